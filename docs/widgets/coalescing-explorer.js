// <coalescing-explorer>: which 32-byte sectors a warp's access to global memory touches.
//
// The model, gemmLab.models.coalescing, counts as the simulated GPU does (common/simgpu/count/coalescing.hpp; measured
// exact on an H200): one executed warp instruction is one request, and a request costs as many sectors as its active
// lanes touch, however often.
(function (root) {
  'use strict';
  if (typeof module === 'object') require('./common.js');
  const lab = root.gemmLab, SECTOR = 32, LINE = 128;

  /** address: 32 byte addresses, null for an inactive lane; bytes per lane a power of two up to 32, naturally aligned. */
  function count(address, bytes) {
    const sectors = new Map(); // sector -> Map(first byte -> lanes)
    let lanes = 0;
    address.forEach((a, lane) => {
      if (a === null) return;
      ++lanes;
      const at = Math.floor(a / SECTOR);
      if (!sectors.has(at)) sectors.set(at, new Map());
      const pieces = sectors.get(at);
      if (!pieces.has(a)) pieces.set(a, []);
      pieces.get(a).push(lane);
    });
    const distinct = bytes * [...sectors.values()].reduce((n, pieces) => n + pieces.size, 0);
    return { requests: lanes ? 1 : 0, sectors: sectors.size, ideal: Math.ceil(distinct / SECTOR),
             lines: new Set([...sectors.keys()].map(s => Math.floor(s * SECTOR / LINE))).size,
             asked: lanes * bytes, distinct, moved: sectors.size * SECTOR,
             touched: [...sectors.entries()].sort((a, b) => a[0] - b[0]) };
  }

  /**
   * Addresses of a pattern, in elements of `bytes`: stride (lane * stride + offset), rows (lane i is at row i / across,
   * column offset + i % across of a matrix with `ld` elements from row to row), expression (bytes).
   */
  function addresses(s) {
    const all = s.pattern === 'expression' ? lab.lanes(s.expression) : Array.from({ length: 32 }, (_, i) => s.bytes *
      (s.pattern === 'stride' ? i * s.stride + s.offset : Math.floor(i / s.across) * s.ld + i % s.across + s.offset));
    return all.map((a, i) => (i < s.active ? a : null));
  }
  const model = { count, addresses };
  lab.models.coalescing = model;
  if (typeof module === 'object') module.exports = model;
  if (typeof HTMLElement === 'undefined') return;

  const { el, text, rect, picture, table, plural, number, percent } = lab;
  const inRows = s => s.pattern === 'rows';

  class CoalescingExplorer extends lab.Widget {
    static get title() { return 'Global memory: sectors of a request'; }
    static get controls() {
      return [
        { name: 'bytes', label: 'Each lane moves', kind: 'select', value: 4, options: [[2, '2 bytes (half)'], [4, '4 bytes (float)'],
          [8, '8 bytes (double)'], [16, '16 bytes (float4)']] },
        { name: 'pattern', label: 'Lanes stand', kind: 'select', value: 'stride', options: [['stride', 'a stride apart'], ['rows', 'in rows of a matrix'],
          ['expression', 'by a formula']] },
        { name: 'stride', label: 'Stride (elements)', kind: 'range', min: 0, max: 40, step: 1, value: 1, when: s => s.pattern === 'stride' },
        { name: 'across', label: 'Lanes side by side', kind: 'select', value: 1, when: inRows,
          options: [[1, '1: down a column'], [2, '2'], [4, '4'], [8, '8'], [16, '16'], [32, '32: along a row']] },
        { name: 'ld', label: 'Row length (ld)', kind: 'number', min: 1, max: 4096, step: 1, value: 256, when: inRows },
        { name: 'offset', label: 'Begins at element', kind: 'range', min: 0, max: 16, step: 1, value: 0, when: s => s.pattern !== 'expression' },
        { name: 'expression', label: 'Byte address', kind: 'text', value: '(lane//16)*516 + (lane%16)*4', when: s => s.pattern === 'expression' },
        { name: 'active', label: 'Active lanes', kind: 'range', min: 1, max: 32, step: 1, value: 32 },
      ];
    }
    static get presets() {
      const plain = { bytes: 4, pattern: 'stride', stride: 1, offset: 0, active: 32 };
      return [
        { label: 'Along a row', values: plain },
        { label: 'All read one element', values: Object.assign({}, plain, { stride: 0 }) },
        { label: 'Shifted by one', values: Object.assign({}, plain, { offset: 1 }) },
        { label: 'Down a column', values: { bytes: 4, pattern: 'rows', across: 1, ld: 256, offset: 0, active: 32 } },
        { label: '16 × 2 threads', values: { bytes: 4, pattern: 'rows', across: 16, ld: 129, offset: 0, active: 32 } },
        { label: 'float4', values: Object.assign({}, plain, { bytes: 16 }) },
        { label: 'Every fourth', values: Object.assign({}, plain, { stride: 4 }) },
      ];
    }
    read(state) {
      let address;
      try { address = addresses(state); } catch (error) { return { error: true, text: `This formula cannot be evaluated: ${error.message}.` }; }
      const bad = lab.misaligned(address, state.bytes);
      if (bad >= 0) return { error: true, text: `Misaligned: lane ${bad} is at byte ${number(address[bad])}, which is not a multiple of ${state.bytes}.` };
      const result = count(address, state.bytes);
      if (!result.requests) return { error: true, text: 'No lane takes part, so there is no request.' };
      const words = `1 request, ${plural(result.sectors, 'sector')} in ${plural(result.lines, 'line')} of 128 bytes; ${result.ideal} would be ideal. ` +
        `${number(result.moved)} bytes move, ${number(result.distinct)} of them are used: ${percent(result.distinct / result.moved)}.`;
      const rows = address.map((a, lane) => [lane, a === null ? 'inactive' : number(a), a === null ? '' : number(Math.floor(a / SECTOR))]);
      return Object.assign(result, { address, text: words,
        details: [['Lane by lane', table('Where each lane looks', ['lane', 'byte', 'sector'], rows)]] });
    }
    draw(model, state, width) {
      const lines = new Map();
      for (const [sector, pieces] of model.touched) {
        const line = Math.floor(sector / 4);
        if (!lines.has(line)) lines.set(line, new Map());
        lines.get(line).set(sector % 4, pieces);
      }
      const narrow = width < 480, left = narrow ? 44 : 86, tall = lines.size > 12 ? 14 : 22, gap = 3, top = 20;
      const box = (width - left - 2) / 4, byte = (box - 6) / SECTOR;
      const nodes = [text(left - 6, 12, narrow ? 'byte' : 'line at byte', { class: 'w-small', 'text-anchor': 'end' })];
      for (let s = 0; s < 4; ++s) nodes.push(text(left + s * box + box / 2, 12, narrow ? `+${32 * s}` : `sector at +${32 * s}`, { class: 'w-small', 'text-anchor': 'middle' }));
      let y = top, before = null;
      for (const [line, sectors] of lines) {
        if (before !== null && line !== before + 1) y += 5;
        before = line;
        nodes.push(text(left - 6, y + tall - 4, number(line * LINE), { class: 'w-small', 'text-anchor': 'end' }));
        for (let s = 0; s < 4; ++s) {
          const pieces = sectors.get(s), x = left + s * box;
          nodes.push(rect(x + 2, y, box - 4, tall, pieces ? 'w-bad' : 'w-empty', pieces ? `sector ${line * 4 + s} is moved` : `sector ${line * 4 + s} is not touched`));
          for (const [first, lanes] of pieces || []) {
            const at = x + 3 + (first % SECTOR) * byte, wide = state.bytes * byte;
            nodes.push(rect(at, y + 1, wide, tall - 2, 'w-mark', `byte ${first}: lane ${lanes.length > 4 ? `${lanes[0]} to ${lanes[lanes.length - 1]}` : lanes.join(', ')}`));
            if (wide >= 15 && tall > 16) nodes.push(text(at + wide / 2, y + tall - 7, lanes[0] + (lanes.length > 1 ? '+' : ''), { class: 'w-tiny', 'text-anchor': 'middle' }));
          }
        }
        y += tall + gap;
      }
      const legend = el('p', { class: 'w-legend' }, el('span', { class: 'w-key w-mark' }), ' bytes that a lane wants ', el('span', { class: 'w-key w-bad' }),
        ' moved with them, for nothing. Lines that no lane touches are left out.');
      return [picture(width, y + 4, `Lines of 128 bytes with their four sectors. ${model.text}`, nodes), legend];
    }
  }
  customElements.define('coalescing-explorer', CoalescingExplorer);
})(typeof globalThis !== 'undefined' ? globalThis : this);
