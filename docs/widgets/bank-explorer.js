// <bank-explorer>: which wavefronts a warp's access to shared memory takes.
//
// The model, gemmLab.models.banks, follows the rules of the simulated GPU
// (common/simgpu/count/shared_banks.hpp): 32 banks of 4 bytes; 32, 16 or 8 lanes at a time for accesses of 4, 8 or 16
// bytes; each bank delivers one word per wavefront, to all lanes that want it; loads whose lanes n and n ^ 1 (or n and
// n ^ 2) agree throughout take half the phases. Its test goes through every row of
// common/simgpu/tests/data/hopper_shared_wavefronts.csv, measured on an H200.
(function (root) {
  'use strict';
  if (typeof module === 'object') require('./common.js');
  const lab = root.gemmLab, BANKS = 32;

  /** One phase: the words that these lanes want, laid out in wavefronts. wanted: [lane, first word, words]. */
  function phase(wanted) {
    const banks = Array.from({ length: BANKS }, () => []); // per bank its words, each with the lanes that want it
    for (const [lane, first, count] of wanted) {
      for (let word = first; word < first + count; ++word) {
        const queue = banks[word % BANKS];
        const known = queue.find(entry => entry.word === word);
        if (known) known.lanes.push(lane);
        else queue.push({ word, bank: word % BANKS, lanes: [lane] });
      }
    }
    const wavefronts = Math.max(...banks.map(queue => queue.length));
    return { lanes: wanted.map(w => w[0]), wavefronts, banks,
             worst: banks.findIndex(queue => queue.length === wavefronts) };
  }
  const sum = phases => ({ phases, actual: phases.reduce((n, p) => n + p.wavefronts, 0), ideal: phases.length });

  /** Lanes served at a time: fewer for wide accesses, twice as many where pairs agree (loads only). */
  function lanesPerPhase(address, bytes, isLoad) {
    const agree = distance => address.every((a, i) => {
      const b = address[i ^ distance];
      return a === null || b === null || a === b;
    });
    const merged = isLoad && bytes > 4 && (agree(1) || agree(2));
    return { lanes: (bytes <= 4 ? 32 : bytes === 8 ? 16 : 8) * (merged ? 2 : 1), merged };
  }

  /** address: 32 byte addresses, null for an inactive lane; bytes per lane 1 .. 16. */
  function wavefronts(address, bytes, isLoad) {
    const { lanes, merged } = lanesPerPhase(address, bytes, isLoad);
    const phases = [];
    for (let first = 0; first < 32; first += lanes) {
      const wanted = [];
      for (let lane = first; lane < first + lanes; ++lane) {
        if (address[lane] === null) continue;
        const word = Math.floor(address[lane] / 4);
        wanted.push([lane, word, Math.floor((address[lane] + bytes - 1) / 4) - word + 1]);
      }
      if (wanted.length) phases.push(phase(wanted));
    }
    return Object.assign(sum(phases), { merged });
  }

  /** ldmatrix: eight row addresses of 16 bytes per matrix, no merging. */
  function matrices(address, count) {
    const phases = [];
    for (let m = 0; m < count; ++m) {
      phases.push(phase(address.slice(8 * m, 8 * m + 8).map((a, r) => [8 * m + r, Math.floor(a / 4), 4])));
    }
    return Object.assign(sum(phases), { merged: false });
  }

  const SIZE = { 4: 4, 8: 8, 16: 16, x1: 16, x2: 16, x4: 16 };
  /**
   * Addresses of a pattern: { access: 4 | 8 | 16 | x1 | x2 | x4, pattern, ... }
   *   stride      lane i touches unit i * stride, in units of the access
   *   tile        lane i touches row i / across, column column + i % across of a tile with rows of `row` words and
   *               `pad` words between them; columns count units; swizzle: column ^ row within the row
   *   expression  bytes, in the language of common.js
   */
  function addresses(s) {
    const size = SIZE[s.access];
    if (s.pattern === 'expression') return lab.lanes(s.expression);
    return Array.from({ length: 32 }, (_, i) => {
      if (s.pattern === 'stride') return i * s.stride * size;
      const units = Math.max(1, s.row * 4 / size), row = Math.floor(i / s.across);
      const column = (s.column + i % s.across) % units;
      return row * (s.row + s.pad) * 4 + (s.swizzle ? column ^ (row % units) : column) * size;
    });
  }
  /** { address, size, bad lane or -1, and the counts } */
  function run(s) {
    const address = addresses(s), size = SIZE[s.access], matrix = String(s.access).startsWith('x');
    const used = matrix ? address.map((a, i) => (i < 8 * Number(s.access[1]) ? a : null)) : address;
    const bad = lab.misaligned(used, size);
    if (bad >= 0) return { address: used, size, bad };
    if (matrix && used.slice(0, 8 * Number(s.access[1])).includes(null)) throw new Error('every row of ldmatrix needs an address');
    if (used.every(a => a === null)) return { address: used, size, bad, phases: [], actual: 0, ideal: 0, merged: false };
    return Object.assign({ address: used, size, bad },
      matrix ? matrices(used, Number(s.access[1])) : wavefronts(used, size, s.op === 'load'));
  }
  const model = { wavefronts, matrices, addresses, run };
  lab.models.banks = model;
  if (typeof module === 'object') module.exports = model;
  if (typeof HTMLElement === 'undefined') return;

  const { el, text, rect, picture, table, plural, number } = lab;
  const isTile = s => s.pattern === 'tile';

  class BankExplorer extends lab.Widget {
    static get title() { return 'Shared memory: 32 banks'; }
    static get controls() {
      return [
        { name: 'access', label: 'Each lane moves', kind: 'select', value: '4', options: [['4', '4 bytes (float)'], ['8', '8 bytes (float2)'],
          ['16', '16 bytes (float4)'], ['x1', 'ldmatrix.x1: a row'], ['x2', 'ldmatrix.x2: a row'], ['x4', 'ldmatrix.x4: a row']] },
        { name: 'op', label: 'as a', kind: 'select', value: 'load', options: [['load', 'load'], ['store', 'store']], when: s => !s.access.startsWith('x') },
        { name: 'pattern', label: 'Lanes stand', kind: 'select', value: 'stride', options: [['stride', 'a stride apart'], ['tile', 'in a tile'],
          ['expression', 'by a formula']] },
        { name: 'stride', label: 'Stride (accesses)', kind: 'range', min: 0, max: 64, step: 1, value: 1, when: s => s.pattern === 'stride' },
        { name: 'across', label: 'Lanes side by side', kind: 'select', value: 1, when: isTile,
          options: [[1, '1: down a column'], [2, '2'], [4, '4'], [8, '8'], [16, '16'], [32, '32: along a row']] },
        { name: 'row', label: 'Words per row', kind: 'select', value: 32, options: [8, 16, 32, 64, 128].map(n => [n, String(n)]), when: isTile },
        { name: 'pad', label: 'Padding (words)', kind: 'range', min: 0, max: 16, step: 1, value: 0, when: isTile },
        { name: 'column', label: 'First column', kind: 'range', min: 0, max: 31, step: 1, value: 0, when: isTile },
        { name: 'swizzle', label: 'xor swizzle', kind: 'check', value: false, when: isTile },
        { name: 'expression', label: 'Byte address', kind: 'text', value: 'lane*33*4', when: s => s.pattern === 'expression' },
      ];
    }
    static get presets() {
      const tile = { access: '4', op: 'load', pattern: 'tile', across: 1, row: 32, pad: 0, column: 5, swizzle: false };
      return [
        { label: 'Neighbours', values: { access: '4', op: 'load', pattern: 'stride', stride: 1 } },
        { label: 'Down a column', values: tile },
        { label: 'Padded by one word', values: Object.assign({}, tile, { pad: 1 }) },
        { label: 'Swizzled', values: Object.assign({}, tile, { swizzle: true }) },
        { label: 'float4, pairs agree', values: { access: '16', op: 'load', pattern: 'expression', expression: '(lane//2)*16' } },
        { label: 'ldmatrix, rows of 128 bytes', values: Object.assign({}, tile, { access: 'x4', column: 2 }) },
      ];
    }
    read(state) {
      let result;
      try { result = run(state); } catch (error) { return { error: true, text: `This formula cannot be evaluated: ${error.message}.` }; }
      if (result.bad >= 0) {
        return { error: true, text: `Misaligned: lane ${result.bad} is at byte ${number(result.address[result.bad])}, which is not a multiple of ` +
          `${result.size}. The hardware refuses this access. Padding must keep every row aligned.` };
      }
      const { actual, ideal, phases, address, size } = result;
      if (!phases.length) return { error: true, text: 'No lane takes part, so there is no request.' };
      const what = state.access.startsWith('x') ? 'ldmatrix' : `${state.op === 'load' ? 'Load' : 'Store'} of ${size} bytes per lane`;
      const worst = phases.reduce((a, b) => (b.wavefronts > a.wavefronts ? b : a));
      const why = actual === ideal ? 'No bank conflict.' :
        `In bank ${worst.worst}, ${worst.wavefronts} different words are needed at once.`;
      const words = `${what}: ${plural(actual, 'wavefront')}, ${ideal} would be ideal. ${why}` +
        (result.merged ? ' Pairs of lanes agree, so twice as many lanes are served at once.' : '');
      const pad = isTile(state) && state.pad ? ` Padding costs ${number(state.pad * 4)} bytes per row of ${number(state.row * 4)}.` : '';
      const rows = [];
      phases.forEach((p, at) => p.lanes.forEach(lane => {
        const mine = p.banks.flatMap(queue => queue.map((entry, order) => [entry, order])).filter(([entry]) => entry.lanes.includes(lane));
        rows.push([lane, number(address[lane]), mine.map(([entry]) => entry.bank).join(', '), at + 1, 1 + Math.max(...mine.map(([, order]) => order))]);
      }));
      return Object.assign(result, { text: words + pad,
        details: [['Lane by lane', table('Where each lane finds its bytes', ['lane', 'byte', 'banks', 'phase', 'done after wavefront'], rows)]] });
    }
    draw(model, state, width) {
      const left = width < 480 ? 26 : 92, cell = (width - left - 2) / BANKS;
      const tall = model.actual > 16 ? 14 : 18, gap = 8, top = 34;
      const nodes = [];
      const every = cell < 15 ? 8 : cell < 18 ? 4 : 2;
      for (let bank = 0; bank < BANKS; ++bank) {
        if (bank % every === 0 || (bank === 31 && every > 2)) {
          const last = bank === 31;
          nodes.push(text(left + (last ? 32 : bank + .5) * cell, 28, bank, { class: 'w-small', 'text-anchor': last ? 'end' : 'middle' }));
        }
      }
      nodes.push(text(left, 12, 'bank', { class: 'w-small' }));
      let y = top, count = 0;
      model.phases.forEach((p, at) => {
        for (let order = 0; order < p.wavefronts; ++order) {
          ++count;
          nodes.push(text(left - 6, y + tall - 4, width < 480 ? count : `wavefront ${count}`, { class: 'w-small', 'text-anchor': 'end' }));
          for (let bank = 0; bank < BANKS; ++bank) {
            const entry = p.banks[bank][order], x = left + bank * cell;
            if (!entry) { nodes.push(rect(x, y, cell, tall, 'w-empty')); continue; }
            const who = entry.lanes.length > 4 ? `lanes ${entry.lanes[0]} to ${entry.lanes[entry.lanes.length - 1]}` : `lane ${entry.lanes.join(', ')}`;
            nodes.push(rect(x, y, cell, tall, order === 0 ? 'w-mark' : 'w-bad', `bank ${bank}, word ${entry.word}: ${who}`));
            if (cell >= 15) nodes.push(text(x + cell / 2, y + tall - 4, entry.lanes[0] + (entry.lanes.length > 1 && cell >= 19 ? '+' : ''),
              { class: 'w-tiny', 'text-anchor': 'middle' }));
          }
          y += tall;
        }
        if (at + 1 < model.phases.length) y += gap;
      });
      const legend = el('p', { class: 'w-legend' }, el('span', { class: 'w-key w-mark' }), ' first wavefront of a phase ', el('span', { class: 'w-key w-bad' }),
        ' one more, because the bank was busy', cell >= 15 ? '. Numbers are lanes' + (cell >= 19 ? '; + means others share the word' : '') + '.' : '.');
      return [picture(width, y + 4, `32 banks against ${plural(model.actual, 'wavefront')} in ${plural(model.phases.length, 'phase')}. ${model.text}`, nodes), legend];
    }
  }
  customElements.define('bank-explorer', BankExplorer);
})(typeof globalThis !== 'undefined' ? globalThis : this);
