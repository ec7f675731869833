// <occupancy-calculator>: how many blocks of a kernel fit on a multiprocessor, and what stops the next one.
//
// The model, gemmLab.models.occupancy. Limits: CUDA C++ Programming Guide, "Compute Capabilities", table of technical
// specifications per compute capability. How they are handed out (registers to warps in units of 256, warps to four
// sub-partitions, shared memory in units of 128 bytes, 256 before 8.0, and 1 KiB per block reserved from 8.0 on):
// cuda_occupancy.h of the CUDA Toolkit 13.0. The test compares every compute capability with that header where a toolkit
// is installed, and 9.0 with the simulated GPU's common/simgpu/count/occupancy.hpp always.
(function (root) {
  'use strict';
  if (typeof module === 'object') require('./common.js');
  const lab = root.gemmLab, KIB = 1024;
  const limits = (name, blocks, warps, shared, perBlock) => ({ name, blocks, warps, shared: shared * KIB, perBlock: perBlock * KIB,
    registers: 65536, perThread: 255, threads: 1024 });
  const CAPABILITIES = {
    '7.5': limits('Turing: T4, RTX 20', 16, 32, 64, 64),
    '8.0': limits('Ampere: A100', 32, 64, 164, 163),
    '8.6': limits('Ampere: RTX 30, A6000', 16, 48, 100, 99),
    '8.7': limits('Ampere: Jetson Orin', 16, 48, 164, 163),
    '8.9': limits('Ada: L4, RTX 40', 24, 48, 100, 99),
    '9.0': limits('Hopper: H100, H200; simulated GPU', 32, 64, 228, 227),
    '10.0': limits('Blackwell: B200', 32, 64, 228, 227),
    '10.3': limits('Blackwell: B300', 32, 64, 228, 227),
    '12.0': limits('Blackwell: RTX 50', 24, 48, 100, 99),
  };
  const roundUp = (n, unit) => Math.ceil(n / unit) * unit;

  /** { capability, threads, registers, shared } -> { blocks, warps, fraction, limiters, by } or { error }. */
  function occupancy({ capability, threads, registers, shared }) {
    const c = CAPABILITIES[capability], major = Number(capability.split('.')[0]);
    if (threads > c.threads) return { error: `${lab.number(threads)} threads per block: ${lab.number(c.threads)} is the limit.` };
    if (shared > c.perBlock) return { error: `${lab.number(shared)} bytes of shared memory per block: ${lab.number(c.perBlock)} is the limit of ${capability}.` };
    const warps = Math.ceil(threads / 32), perWarp = roundUp(registers * 32, 256);
    if (roundUp(warps, 4) * perWarp > c.registers) {
      return { error: `${lab.number(threads)} threads with ${registers} registers each need more than the ${lab.number(c.registers)} of a multiprocessor: the launch fails.` };
    }
    const block = roundUp(shared + (major >= 8 ? KIB : 0), major >= 8 ? 128 : 256);
    const by = { 'block slots': c.blocks, 'warp slots': Math.floor(c.warps / warps),
      registers: Math.floor(Math.floor(c.registers / 4 / perWarp) * 4 / warps), 'shared memory': block ? Math.floor(c.shared / block) : Infinity };
    const blocks = Math.min(...Object.values(by));
    return { blocks, warps: blocks * warps, fraction: blocks * warps / c.warps, by, limiters: Object.keys(by).filter(k => by[k] === blocks), c };
  }
  // Kernels of the labs as ptxas compiled them; docs/figures/draw.py writes them from docs/results/h200.
  // measured: begin
  const MEASURED = [
    {"label": "Lab 1", "values": {"threads": 256, "registers": 32, "shared": 0}},
    {"label": "Lab 3, 128 × 128", "values": {"threads": 256, "registers": 117, "shared": 16384}},
    {"label": "Lab 4, 4.4", "values": {"threads": 256, "registers": 204, "shared": 37248}},
    {"label": "Lab 5, 5.3", "values": {"threads": 256, "registers": 254, "shared": 147456}},
  ];
  // measured: end
  const model = { CAPABILITIES, occupancy };
  lab.models.occupancy = model;
  if (typeof module === 'object') module.exports = model;
  if (typeof HTMLElement === 'undefined') return;

  const { el, text, rect, picture, table, number, percent, plural, bytes: size, svg } = lab;
  class OccupancyCalculator extends lab.Widget {
    static get title() { return 'Occupancy: what fits on a multiprocessor'; }
    static get controls() {
      return [{ name: 'capability', label: 'Compute capability', kind: 'select', value: '9.0',
        options: Object.entries(CAPABILITIES).map(([cc, c]) => [cc, `${cc} (${c.name})`]) },
        { name: 'threads', label: 'Threads per block', kind: 'number', min: 1, max: 1024, step: 1, value: 256 },
        { name: 'registers', label: 'Registers per thread', kind: 'range', min: 16, max: 255, step: 1, value: 128 },
        { name: 'shared', label: 'Shared bytes per block', kind: 'number', min: 0, max: 232448, step: 1, value: 16384 }];
    }
    static get presets() {
      return MEASURED;
    }
    read(s) {
      const r = occupancy(s);
      if (r.error) return { error: true, text: r.error };
      const cliffs = [];
      for (let registers = 16, last = null; registers <= 256; registers += 1) {
        const other = registers > 255 ? { blocks: -1 } : occupancy(Object.assign({}, s, { registers }));
        const now = other.error ? 0 : other.blocks;
        if (last && now !== last.blocks) cliffs.push([`up to ${registers - 1}`, last.blocks, last.blocks ? percent(last.fraction) : 'does not start']);
        last = { blocks: now, fraction: other.fraction || 0 };
      }
      const words = `${plural(r.blocks, 'block')} of ${plural(Math.ceil(s.threads / 32), 'warp')} fit: ${r.warps} of ${r.c.warps} warps, ${percent(r.fraction)} occupancy. ` +
        `Limited by ${r.limiters.join(' and ')}.`;
      return Object.assign(r, { text: words, details: [
        ['Where the cliffs are', table('Registers per thread against blocks', ['registers', 'blocks', 'occupancy'], cliffs)],
        [`Limits of ${s.capability}`, table('CUDA C++ Programming Guide, technical specifications per compute capability', ['per multiprocessor', 'at most'],
          [['blocks', r.c.blocks], ['warps', r.c.warps], ['registers of 32 bits', number(r.c.registers)], ['shared memory', size(r.c.shared)],
           ['shared memory per block', size(r.c.perBlock)], ['registers per thread', r.c.perThread], ['threads per block', number(r.c.threads)]])]] });
    }
    draw(model, s, width) {
      const c = model.c, nodes = [], across = c.warps > 32 ? 16 : 8, gap = 3;
      const beside = width >= 600, half = beside ? width * .42 : width - 4;
      const cell = Math.min(26, Math.floor(half / across) - gap), rows = c.warps / across, per = Math.ceil(s.threads / 32);
      nodes.push(text(2, 14, 'warp slots, by block', { class: 'w-small' }));
      for (let w = 0; w < c.warps; ++w) {
        const x = 2 + (w % across) * (cell + gap), y = 22 + Math.floor(w / across) * (cell + gap), block = Math.floor(w / per), used = w < model.warps;
        nodes.push(rect(x, y, cell, cell, used ? (block % 2 ? 'w-alt' : 'w-mark') : 'w-empty', used ? `block ${block}, warp ${w % per}` : 'free'));
        if (used && cell >= 15) nodes.push(text(x + cell / 2, y + cell / 2 + 4, block, { class: 'w-tiny', 'text-anchor': 'middle' }));
      }
      const below = 22 + rows * (cell + gap), bx = beside ? half + 28 : 2, room = width - bx - 34;
      let y = beside ? 0 : below + 10;
      const most = Math.max(...Object.values(model.by).filter(Number.isFinite), 1);
      for (const [name, blocks] of Object.entries(model.by)) {
        const least = model.limiters.includes(name);
        nodes.push(text(bx, y + 14, least ? `${name}: the limit` : name, { class: least ? 'w-small w-strong' : 'w-small' }),
          rect(bx, y + 19, Math.max(1, room * Math.min(1, blocks / most)), 11, least ? 'w-bad' : 'w-mark'),
          text(bx + room * Math.min(1, blocks / most) + 5, y + 29, Number.isFinite(blocks) ? blocks : '∞', { class: 'w-small' }));
        y += 36;
      }
      y = Math.max(y, below) + 22;
      // Occupancy over registers: stairs, and where you stand.
      const high = 96, left = 44, wide = width - left - 14, X = r => left + wide * (r - 16) / (255 - 16), Y = f => y + high * (1 - f);
      for (const f of [0, .5, 1]) nodes.push(svg('path', { class: 'w-grid', d: `M${left} ${Y(f)}h${wide}` }), text(left - 6, Y(f) + 4, percent(f), { class: 'w-small', 'text-anchor': 'end' }));
      let d = '';
      for (let r = 16; r <= 255; ++r) {
        const o = occupancy(Object.assign({}, s, { registers: r }));
        d += `${d ? 'L' : 'M'}${X(r).toFixed(1)} ${Y(o.error ? 0 : o.fraction).toFixed(1)}`;
      }
      nodes.push(svg('path', { class: 'w-roof', d }), svg('circle', { cx: X(s.registers), cy: Y(model.fraction), r: 5, class: 'w-bad' }));
      for (const r of [16, 64, 128, 192, 255]) nodes.push(text(X(r), y + high + 16, r, { class: 'w-small', 'text-anchor': 'middle' }));
      nodes.push(text(left, y - 8, 'occupancy against registers per thread', { class: 'w-small' }));
      return picture(width, y + high + 22, `${model.warps} of ${c.warps} warp slots taken. ${model.text}`, nodes);
    }
  }
  customElements.define('occupancy-calculator', OccupancyCalculator);
})(typeof globalThis !== 'undefined' ? globalThis : this);
