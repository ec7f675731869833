// <tile-walk>: a block of C walks along K, tile by tile, and counts the bytes it moves.
//
// The model, gemmLab.models.tiles, counts what lab 1's kernel (one thread per element, warps along a row) and a tiled
// kernel read and write for any M, N, K, ragged edges included. Its test compares it with the simulated GPU's counters
// for labs 1 and 3.
(function (root) {
  'use strict';
  if (typeof module === 'object') require('./common.js');
  const lab = root.gemmLab;
  const up = (n, unit) => Math.ceil(n / unit), SECTOR = 32, WARP = 32;

  /** Sectors touched by n neighbouring elements from element `first` of an array that begins at a sector. */
  const span = (first, n, bytes) => (n <= 0 ? 0 : Math.floor(((first + n) * bytes - 1) / SECTOR) - Math.floor(first * bytes / SECTOR) + 1);
  /** The same for a row of n elements that warps of 32 fetch, 32 elements at a time. */
  function rowSectors(first, n, bytes) {
    let sum = 0;
    for (let at = 0; at < n; at += WARP) sum += span(first + at, Math.min(WARP, n - at), bytes);
    return sum;
  }

  /** Lab 1: one thread per element of C, each warp along a row; requests and sectors of A, B (loads) and C (stores). */
  function naive({ M, N, K, bytes }) {
    const warps = M * up(N, WARP);
    let b = 0, c = 0;
    for (let k = 0; k < K; ++k) b += rowSectors(k * N, N, bytes);
    for (let r = 0; r < M; ++r) c += rowSectors(r * N, N, bytes);
    return { requests: { A: K * warps, B: K * warps, C: warps }, sectors: { A: K * warps, B: M * b, C: c },
             asked: 2 * M * N * K * bytes };
  }

  /**
   * A block per BM x BN tile of C, tiles of BM x BK and BK x BN in shared memory, TM x TN elements of C per thread.
   * Every element of a tile is fetched once by some thread, rows by neighbouring threads; what lies outside is zero and
   * costs no global access. Matrices without padding (ld = width).
   */
  function tiled({ M, N, K, BM, BN, BK, TM, TN, bytes }) {
    const blocks = up(M, BM) * up(N, BN), steps = up(K, BK), threads = BM / TM * (BN / TN);
    let a = 0, b = 0;
    for (let row = 0; row < M; ++row) for (let k = 0; k < K; k += BK) a += rowSectors(row * K + k, Math.min(BK, K - k), bytes);
    for (let k = 0; k < K; ++k) for (let col = 0; col < N; col += BN) b += rowSectors(k * N + col, Math.min(BN, N - col), bytes);
    const global = { A: up(N, BN) * M * K * bytes, B: up(M, BM) * K * N * bytes, C: M * N * bytes };
    return { blocks, steps, threads, warps: up(threads, WARP), global, sectors: { A: up(N, BN) * a, B: up(M, BM) * b },
             shared: { stored: blocks * steps * (BM * BK + BK * BN) * bytes,
                       loaded: blocks * steps * BK * threads * (TM + TN) * bytes,
                       loadRequests: blocks * steps * BK * up(threads, WARP) * (TM + TN),
                       perBlock: (BM * BK + BK * BN) * bytes },
             registers: TM * TN + TM + TN };
  }

  /** What one block has moved after `step` of its k tiles: bytes, and multiply-adds that count. */
  function walk(s, block, step) {
    const columns = up(s.N, s.BN), i = Math.floor(block / columns), j = block % columns;
    const rows = Math.min(s.BM, s.M - i * s.BM), cols = Math.min(s.BN, s.N - j * s.BN), k = Math.min(s.K, step * s.BK);
    const threads = s.BM / s.TM * (s.BN / s.TN);
    return { i, j, rows, cols, k, fma: rows * cols * k, naive: 2 * rows * cols * k * s.bytes,
             global: (rows + cols) * k * s.bytes, stored: step * (s.BM + s.BN) * s.BK * s.bytes,
             loaded: step * s.BK * threads * (s.TM + s.TN) * s.bytes };
  }

  /** Everything, or { error } in words. */
  function run(s) {
    if (s.BM % s.TM || s.BN % s.TN) return { error: `A thread's ${s.TM} × ${s.TN} elements do not divide the block's ${s.BM} × ${s.BN}.` };
    const t = tiled(s), n = naive(s), fma = s.M * s.N * s.K;
    if (t.threads > 1024) return { error: `${lab.number(t.threads)} threads per block: 1024 is the limit. Give each thread more elements.` };
    const loaded = t.global.A + t.global.B;
    return { naive: n, tiled: t, fma, perFma: { naive: n.asked / fma, global: loaded / fma, shared: (t.shared.stored + t.shared.loaded) / fma },
             intensity: 2 * fma / (loaded + t.global.C) };
  }
  const model = { naive, tiled, walk, run, span };
  lab.models.tiles = model;
  if (typeof module === 'object') module.exports = model;
  if (typeof HTMLElement === 'undefined') return;

  const { el, text, rect, picture, table, plural, number, bytes: size } = lab;
  const powers = (from, to) => { const all = []; for (let n = from; n <= to; n *= 2) all.push([n, String(n)]); return all; };
  const extent = (name, value) => ({ name, label: name, kind: 'number', min: 1, max: 1024, step: 1, value });

  class TileWalk extends lab.Widget {
    static get title() { return 'A block of C walks along K'; }
    static get controls() {
      return [extent('M', 256), extent('N', 256), extent('K', 256),
        { name: 'BM', label: 'BM: block rows', kind: 'select', value: 64, options: powers(8, 256) },
        { name: 'BN', label: 'BN: block columns', kind: 'select', value: 64, options: powers(8, 256) },
        { name: 'BK', label: 'BK: tile depth', kind: 'select', value: 16, options: powers(4, 64) },
        { name: 'TM', label: 'TM: thread rows', kind: 'select', value: 4, options: powers(1, 16) },
        { name: 'TN', label: 'TN: thread columns', kind: 'select', value: 4, options: powers(1, 16) },
        { name: 'bytes', label: 'Elements', kind: 'select', value: 4, options: [[2, 'half, 2 bytes'], [4, 'float, 4 bytes'], [8, 'double, 8 bytes']] },
        { name: 'block', label: 'Block of C', kind: 'range', min: 1, max: 1, step: 1, value: 1 },
        { name: 'step', label: 'k tiles done', kind: 'range', min: 0, max: 1, step: 1, value: 1 }];
    }
    static get presets() {
      const square = { M: 256, N: 256, K: 256, bytes: 4, block: 1, step: 1 };
      return [
        { label: '32 × 32, one element a thread', values: Object.assign({}, square, { BM: 32, BN: 32, BK: 32, TM: 1, TN: 1 }) },
        { label: '128 × 128, 8 × 8 a thread', values: Object.assign({}, square, { BM: 128, BN: 128, BK: 16, TM: 8, TN: 8 }) },
        { label: 'Ragged: 131 × 129 × 127', values: { M: 131, N: 129, K: 127, BM: 64, BN: 64, BK: 16, TM: 4, TN: 4, bytes: 4, block: 9, step: 8 } },
      ];
    }
    start() {
      super.start();
      if (this.steps) return;
      const button = (words, action) => { const b = el('button', { type: 'button' }, words); b.addEventListener('click', action); return b; };
      this.back = button('One step back', () => this.go(this.state.step - 1));
      this.forth = button('One step', () => this.go(this.state.step + 1));
      this.play = button('Play', () => this.toggle());
      this.steps = el('div', { class: 'w-steps', role: 'group', 'aria-label': 'Walk' }, this.back, this.forth, this.play);
      this.result.before(this.steps);
      this.update();
    }
    go(step) { this.set({ step: Math.max(0, Math.min(step, this.model.tiled ? this.model.tiled.steps : 0)) }); }
    toggle() {
      if (this.timer) { this.stop(); return; }
      this.play.textContent = 'Pause';
      if (this.state.step >= this.model.tiled.steps) this.go(0);
      this.result.setAttribute('aria-live', 'off'); // no running commentary
      this.timer = setInterval(() => {
        if (!this.isConnected || !this.model.tiled || this.state.step >= this.model.tiled.steps) { this.stop(); return; }
        this.go(this.state.step + 1);
      }, 700);
    }
    stop() {
      clearInterval(this.timer);
      this.timer = null;
      this.play.textContent = 'Play';
      this.result.setAttribute('aria-live', 'polite');
    }
    collect() { // two sliders whose ends depend on the rest
      const value = name => Number(this.inputs[name].input.value);
      const limit = (name, max) => {
        if (!(max >= 1)) return;
        const { input, control } = this.inputs[name], wanted = Number(input.value);
        control.max = input.max = max;
        input.value = Math.min(wanted, max);
      };
      limit('block', up(value('M'), value('BM')) * up(value('N'), value('BN')));
      limit('step', up(value('K'), value('BK')));
      super.collect();
    }
    set(values) { // ends first, so that the browser does not cut the value off
      for (const name of ['block', 'step']) if (name in values && this.inputs[name]) this.inputs[name].input.max = this.inputs[name].control.max = 1e6;
      super.set(values);
    }
    read(s) {
      const result = run(s);
      if (result.error) return { error: true, text: result.error };
      const { tiled: t, naive: n } = result, w = walk(s, s.block - 1, s.step), per = n2 => number(n2, 3);
      if (this.steps) {
        this.back.disabled = s.step === 0;
        this.forth.disabled = s.step >= t.steps;
        this.play.hidden = lab.still();
      }
      const words = `After ${s.step} of ${t.steps} k tiles this block has read ${size(w.global)} from global memory; one thread per element would have ` +
        `asked for ${size(w.naive)}. All ${plural(t.blocks, 'block')}: ${per(result.perFma.global)} bytes per multiply-add from global memory instead of ` +
        `${per(result.perFma.naive)}, ${per(result.perFma.shared)} to and from shared memory; ${per(result.intensity)} FLOP per byte.`;
      const rows = [['A and B, asked for', size(n.asked), size(t.global.A + t.global.B)],
        ['sectors of A', number(n.sectors.A), number(t.sectors.A)], ['sectors of B', number(n.sectors.B), number(t.sectors.B)],
        ['C written', size(t.global.C), size(t.global.C)],
        ['into shared memory', '–', size(t.shared.stored)], ['from shared memory', '–', size(t.shared.loaded)],
        ['shared memory per block', '–', size(t.shared.perBlock)], ['threads per block', '256', number(t.threads)],
        ['registers for the tile', '3', number(t.registers)]];
      return Object.assign(result, { at: w, text: words,
        details: [['All counters', table(`C = ${s.M} × ${s.N}, K = ${s.K}, whole product`, ['counter', 'one thread per element', 'tiled'], rows)]] });
    }
    draw(model, s, width) {
      const w = model.at, beside = width >= 560, gap = 12, label = 16;
      const room = beside ? Math.min(340, width * .5) : Math.min(width - 4, 340);
      const scale = (room - gap) / (s.K + s.N), tall = Math.min(scale, (room - gap) / (s.K + s.M));
      const K = s.K * tall, M = s.M * tall, N = s.N * tall;
      const x0 = 2 + K + gap, y0 = label + K + gap, nodes = [];
      const b = { x: w.j * s.BN * tall, y: w.i * s.BM * tall, w: w.cols * tall, h: w.rows * tall }, done = w.k * tall;
      const from = Math.max(0, Math.min(s.K, (s.step - 1) * s.BK)) * tall;
      nodes.push(rect(2, y0, K, M, 'w-panel'), rect(x0, label, N, K, 'w-panel'), rect(x0, y0, N, M, 'w-panel'));
      nodes.push(rect(2, y0 + b.y, K, b.h, 'w-cell'), rect(x0 + b.x, label, b.w, K, 'w-cell'));
      nodes.push(rect(2, y0 + b.y, done, b.h, 'w-a-done'), rect(x0 + b.x, label, b.w, done, 'w-b-done'));
      if (s.step > 0) nodes.push(rect(2 + from, y0 + b.y, done - from, b.h, 'w-a'), rect(x0 + b.x, label + from, b.w, done - from, 'w-b'));
      for (let r = s.BM; r < s.M; r += s.BM) nodes.push(lab.svg('path', { class: 'w-grid', d: `M${x0} ${y0 + r * tall}h${N}` }));
      for (let c = s.BN; c < s.N; c += s.BN) nodes.push(lab.svg('path', { class: 'w-grid', d: `M${x0 + c * tall} ${y0}v${M}` }));
      nodes.push(rect(x0 + b.x, y0 + b.y, b.w, b.h, 'w-c'));
      const letter = (x, y, l) => text(x, y, l, { class: `w-strong w-fg-${l.toLowerCase()}` });
      nodes.push(letter(4, y0 - 4, 'A'), letter(x0 + 2, label - 4, 'B'), letter(x0 - 12, y0 - 1, 'C'));
      // Bars: what this block has moved so far, to one scale.
      const bars = [['one thread per element, asked for', w.naive, 'w-bad'], ['tiled: from global memory', w.global, 'w-mark'],
        ['into shared memory', w.stored, 'w-cell'], ['from shared memory', w.loaded, 'w-cell']];
      const bx = beside ? x0 + N + 28 : 2, by = beside ? label + 4 : y0 + M + 18, room2 = width - bx - 2;
      const most = Math.max(1, ...bars.map(bar => bar[1]));
      bars.forEach(([name, value, cls], i) => {
        const y = by + i * 54;
        nodes.push(text(bx, y + 10, name, { class: 'w-small' }), rect(bx, y + 16, Math.max(1, room2 * value / most), 12, cls),
          text(bx, y + 41, size(value), { class: 'w-strong' }));
      });
      const height = Math.max(y0 + M, by + bars.length * 54) + 4;
      return picture(width, height, `A, B and C; block ${s.block} of C in row ${w.i + 1} and column ${w.j + 1} of blocks. ${model.text}`, nodes);
    }
  }
  customElements.define('tile-walk', TileWalk);
})(typeof globalThis !== 'undefined' ? globalThis : this);
