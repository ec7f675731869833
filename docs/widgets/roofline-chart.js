// <roofline-chart>: the roofs of a GPU, the intensity of a tile, and the reader's own measurements.
//
// The model, gemmLab.models.roofline. H200: a copy's bandwidth and the best loop of multiply-adds in FP32 and FP64 as
// docs/results/h200/ceilings.json has them, nominal values beside them. Tensor cores in 16 bits and TF32, and other GPUs:
// the vendor's data sheets, dense, without sparsity.
// A file of results is read in the page and goes nowhere. The page may bring points of its own: the attribute `recorded`,
// a document like bench.json, whose records may say their intensity.
(function (root) {
  'use strict';
  if (typeof module === 'object') require('./common.js');
  const lab = root.gemmLab;
  const PATHS = { f32: ['FP32', 4], f64: ['FP64', 8], tf32: ['TF32 tensor', 4], bf16: ['BF16 or FP16 tensor', 2] };
  // What a loop of that instruction and a copy really reached; docs/figures/draw.py writes it from docs/results/h200.
  // measured: begin
  const MEASURED = {"bandwidth": 3.986, "tflops": {"f32": 63.5, "f64": 66.4}};
  // measured: end
  // tflops: peaks by path; bandwidth in TB/s.
  const GPUS = {
    h200: { name: 'H200', bandwidth: 4.8, tflops: { f32: 66.9, f64: 66.9, tf32: 495, bf16: 989 }, measured: MEASURED },
    h100: { name: 'H100 SXM', bandwidth: 3.35, tflops: { f32: 66.9, f64: 66.9, tf32: 495, bf16: 989 } },
    a100: { name: 'A100 80 GB SXM', bandwidth: 2.039, tflops: { f32: 19.5, f64: 19.5, tf32: 156, bf16: 312 } },
    l4: { name: 'L4', bandwidth: 0.3, tflops: { f32: 30.3, tf32: 60, bf16: 121 } },
    t4: { name: 'T4', bandwidth: 0.32, tflops: { f32: 8.1, bf16: 65 } },
    rtx3090: { name: 'RTX 3090', bandwidth: 0.936, tflops: { f32: 35.6, bf16: 71 } },
    rtx4090: { name: 'RTX 4090', bandwidth: 1.008, tflops: { f32: 82.6, bf16: 165 } },
    rtx5090: { name: 'RTX 5090', bandwidth: 1.792, tflops: { f32: 104.8, bf16: 209.5 } },
    own: { name: 'another one', tflops: {} },
  };

  /** { peak, bandwidth, source } of a choice; null if the GPU has no such path. */
  function roofs({ gpu, path, peak, bandwidth }) {
    if (gpu === 'own') return { peak, bandwidth, source: 'your own figures' };
    const g = GPUS[gpu];
    if (!g.tflops[path]) return null;
    const measured = g.measured && g.measured.tflops[path];
    return g.measured ? { peak: measured || g.tflops[path], bandwidth: g.measured.bandwidth, nominal: { peak: g.tflops[path], bandwidth: g.bandwidth },
                          source: measured ? 'measured on an H200; dashed: nominal' : 'the bandwidth measured on an H200; the peak and, dashed, the nominal bandwidth from the data sheet' } :
      { peak: g.tflops[path], bandwidth: g.bandwidth, source: 'the vendor’s data sheet' };
  }
  /** TFLOP/s that the roofs allow at an intensity in FLOP per byte. */
  const attainable = (roof, intensity) => Math.min(roof.peak, roof.bandwidth * intensity);
  const ridge = roof => roof.peak / roof.bandwidth;
  /** FLOP per byte of A and B fetched by a block of bm x bn elements of C. */
  const tile = (bm, bn, bytes) => 2 / (bytes * (1 / bm + 1 / bn));
  /** FLOP per byte if each element of A, B and C travelled once. */
  const compulsory = (m, n, k, bytes) => 2 * m * n * k / (bytes * (m * k + k * n + m * n));

  const BYTES = { double: 8, f64: 8, float: 4, f32: 4, tf32: 4, int: 4, int32: 4, half: 2, f16: 2, bfloat16: 2, bf16: 2 };
  const PATH_OF = { double: 'f64', f64: 'f64', float: 'f32', f32: 'f32', tf32: 'tf32', half: 'bf16', f16: 'bf16', bfloat16: 'bf16', bf16: 'bf16' };
  /**
   * Points in a document of results: every object with a shape and `tflops`, or with m, n, k and `ms`, wherever it stands. So
   * it reads bench.json (records with m, n, k) and the report of a check (speed goals with `at`) alike. What a CPU did is left out.
   */
  function points(document) {
    const found = [];
    let gpu = '';
    const one = v => (v && typeof v === 'object' ? one(v.median !== undefined ? v.median : v.best) : typeof v === 'number' && v > 0 ? v : undefined);
    const words = v => (typeof v === 'string' && v ? v : undefined);
    function visit(node, above) {
      if (Array.isArray(node)) { node.forEach(child => visit(child, above)); return; }
      if (!node || typeof node !== 'object') return;
      if (!gpu && words(node.gpu)) gpu = node.gpu;
      const shape = ['shape', 'size', 'at'].map(key => node[key]).find(v => Array.isArray(v) || Number.isInteger(v));
      const here = {
        math: words(node.math) || above.math,
        name: words(node.rung) || words(node.kernel) || words(node.entry) || words(node.name) || words(node.label) || words(node.stage) || words(node.id) || above.name,
        type: words(node.type) || words(node.dtype) || above.type,
        shape: Array.isArray(shape) ? shape : Number.isInteger(shape) ? [shape, shape, shape] :
          ['m', 'M'].some(k => Number.isInteger(node[k])) ? [node.m || node.M, node.n || node.N, node.k || node.K] :
            Number.isInteger(node.n) ? [node.n, node.n, node.n] : above.shape,
      };
      const ms = Number.isInteger(node.m) ? one(node.ms) : undefined;
      const tflops = one(node.tflops) || (one(node.gflops) || 0) / 1000 || (ms && 2e-9 * node.m * node.n * node.k / ms);
      if (tflops && here.shape && here.shape.length === 3 && here.shape.every(v => v > 0)) {
        const [m, n, k] = here.shape;
        const traffic = one(node.dram_bytes);
        found.push({ name: here.name || 'unnamed', type: here.math || here.type || 'float', path: PATH_OF[here.math || here.type || 'float'], shape: here.shape, tflops,
          intensity: one(node.intensity) || (traffic ? 2 * m * n * k / traffic : compulsory(m, n, k, BYTES[here.type] || 4)) });
      }
      for (const [key, child] of Object.entries(node)) {
        if (child && typeof child === 'object' && key !== 'cpu') visit(child, Array.isArray(child) || here.name ? here : Object.assign({}, here, { name: key }));
      }
    }
    visit(document, {});
    return { gpu, points: found };
  }
  const model = { GPUS, PATHS, roofs, attainable, ridge, tile, compulsory, points };
  lab.models.roofline = model;
  if (typeof module === 'object') module.exports = model;
  if (typeof HTMLElement === 'undefined') return;

  const { el, svg, text, rect, picture, table, number, percent } = lab;
  const SIZES = ['all', 256, 512, 1024, 2048, 4096, 8192].map(n => [String(n), n === 'all' ? 'every size' : `n = ${n}`]);
  const TILES = [[1, 1, 'lab 1: one element'], [8, 4, 'lab 2: 8 × 4'], [128, 128, 'lab 3: 128 × 128']];

  /** 5, 6, 11, 12, 13 as "5, 6, 11–13". */
  function ranges(numbers) {
    const runs = [];
    for (const n of numbers) {
      const last = runs[runs.length - 1];
      if (last && n === last[1] + 1) last[1] = n; else runs.push([n, n]);
    }
    return runs.map(([from, to]) => from === to ? from : to === from + 1 ? `${from}, ${to}` : `${from}–${to}`).join(', ');
  }

  /** Numbers beside groups of points, [x, y, numbers], from x = begin to end: on the first side where neither a label nor a point is. */
  function labels(groups, begin, end, text) {
    const boxes = groups.map(([x, y]) => [x - 5, y - 5, 10, 10]), nodes = [];
    groups.forEach(([x, y, numbers], own) => {
      const words = ranges(numbers), wide = 5.8 * words.length;
      const sides = [[x + 8, y - 5], [x - 8 - wide, y - 5], [x - wide / 2, y + 7], [x - wide / 2, y - 17], [x + 8, y - 16], [x + 8, y + 6],
        [x - 8 - wide, y + 6], [x - 8 - wide, y - 16], [x - 8 - wide, y + 18], [x + 8, y + 18], [x + 8, y - 28], [end - wide, y + 30], [end - wide, y - 40]];
      const free = ([left, top]) => left >= begin && left + wide <= end && boxes.every(([bx, by, bw, bh], i) => i === own || left + wide < bx || bx + bw < left || top + 10 < by || by + bh < top);
      const [left, top] = sides.find(free) || [Math.min(x + 8, end - wide), y - 5];
      boxes.push([left, top, wide, 10]);
      nodes.push(text(left, top + 9, words, { class: 'w-tiny w-halo' }));
    });
    return nodes;
  }

  class RooflineChart extends lab.Widget {
    static get title() { return 'Roofline'; }
    static get controls() {
      return [{ name: 'gpu', label: 'GPU', kind: 'select', value: 'h200', options: Object.entries(GPUS).map(([key, g]) => [key, g.name]) },
        { name: 'path', label: 'Arithmetic', kind: 'select', value: 'f32', options: Object.entries(PATHS).map(([key, p]) => [key, p[0]]) },
        { name: 'peak', label: 'Peak (TFLOP/s)', kind: 'number', min: 0.1, max: 10000, step: 'any', value: 20, when: s => s.gpu === 'own' },
        { name: 'bandwidth', label: 'Memory (TB/s)', kind: 'number', min: 0.01, max: 100, step: 'any', value: 0.5, when: s => s.gpu === 'own' },
        { name: 'bm', label: 'Rows of a tile', kind: 'number', min: 1, max: 1024, step: 1, value: 64 },
        { name: 'bn', label: 'Columns of a tile', kind: 'number', min: 1, max: 1024, step: 1, value: 64 },
        { name: 'show', label: 'Measured points', kind: 'select', value: 'recorded', options: [['recorded', 'recorded for this course'], ['own', 'from your file'], ['none', 'none']],
          when: s => s.recorded },
        { name: 'size', label: 'Their size', kind: 'select', value: 'all', options: SIZES, when: s => s.recorded },
        { name: 'file', label: 'Your results (a JSON file)', kind: 'file', accept: '.json,application/json' }];
    }
    start() {
      if (this.getAttribute('recorded')) this.recorded = points(JSON.parse(this.getAttribute('recorded')));
      super.start();
      if (this.listening) return;
      this.listening = true;
      this.inputs.file.input.addEventListener('change', event => this.load(event.target.files[0]));
      if (this.getAttribute('results')) this.take(this.getAttribute('results'), '');
    }
    async load(file) {
      if (file) this.take(await file.text(), file.name);
    }
    collect() {
      this.state.recorded = Boolean(this.recorded);
      super.collect();
    }
    take(json, name) {
      try {
        this.loaded = Object.assign(points(JSON.parse(json)), { name });
        this.problem = this.loaded.points.length ? '' : `${name || 'The file'} holds no speeds. (A report of the simulated GPU has none.)`;
      } catch (error) {
        this.loaded = null;
        this.problem = `${name || 'The file'} is not JSON: ${error.message}.`;
      }
      this.set({ show: 'own', size: 'all' });
    }
    read(s) {
      const roof = roofs(s), [path, bytes] = PATHS[s.path];
      if (!roof) return { error: true, text: `${GPUS[s.gpu].name}: no figure for ${path} here.` };
      const at = tile(s.bm, s.bn, bytes), can = attainable(roof, at), edge = ridge(roof);
      const given = this.recorded && s.show === 'recorded', from = given ? this.recorded : s.show === 'none' && this.recorded ? null : this.loaded;
      const size = this.recorded && s.size !== 'all' ? Number(s.size) : 0, all = from ? from.points : [];
      const own = all.filter(p => p.path === s.path && (!size || p.shape.every(v => v === size)));
      const words = `${GPUS[s.gpu].name}, ${path}: ${number(roof.peak)} TFLOP/s and ${number(roof.bandwidth, 4)} TB/s meet at ${number(edge)} FLOP per byte ` +
        `(${roof.source}). A ${s.bm} × ${s.bn} tile makes ${number(at)} FLOP of each byte it fetches: at most ${number(can)} TFLOP/s, limited by ` +
        `${at < edge ? 'memory, if nothing came from a cache' : 'arithmetic'}.` + (this.problem ? ' ' + this.problem : '') +
        (all.length ? ` ${own.length} of ${lab.plural(all.length, given ? 'recorded point' : 'measured point')}${from.gpu ? ` from ${from.gpu}` : ''} ${own.length === 1 ? 'is' : 'are'} of this arithmetic` +
          `${size ? ` and n = ${size}` : ''}.` : '') + (this.recorded && s.show === 'own' && !this.loaded && !this.problem ? ' Choose your file: build/bench/bench.json after make bench, or what make check JSON=1 printed on a GPU.' : '');
      const rows = own.map((p, i) => [i + 1, p.name, p.type, p.shape.join(' × '), number(p.tflops), percent(p.tflops / (given ? roof.peak : attainable(roof, p.intensity)))]);
      return { roof, at, can, edge, own, given, text: words, details: own.length ? [[given ? 'Recorded points' : 'Your points', table(given ? 'By their numbers in the drawing' : 'In the order of the file', ['point', 'kernel', 'type', 'M × N × K', 'TFLOP/s',
        given ? 'of the peak' : 'of the roof'], rows)]] : [] };
    }
    draw(model, s, width) {
      const { roof } = model, bytes = PATHS[s.path][1], left = 46, right = 10, top = 16, high = Math.max(230, Math.min(340, width * .55));
      const wide = width - left - right, lo = -1, hi = 4; // decades of FLOP per byte
      const ceiling = Math.ceil(Math.log10(Math.max(roof.peak, roof.nominal ? roof.nominal.peak : 0) * 1.05)), floor = Math.floor(Math.log10(roof.bandwidth * 10 ** lo));
      const X = v => left + wide * (Math.log10(v) - lo) / (hi - lo), Y = v => top + high * (ceiling - Math.log10(v)) / (ceiling - floor);
      const nodes = [];
      for (let d = lo; d <= hi; ++d) {
        nodes.push(svg('path', { class: 'w-grid', d: `M${X(10 ** d)} ${top}v${high}` }), text(X(10 ** d), top + high + 15, d === hi && width < 480 ? '' : number(10 ** d), { class: 'w-small', 'text-anchor': d === hi ? 'end' : 'middle' }));
      }
      for (let d = floor; d <= ceiling; ++d) {
        nodes.push(svg('path', { class: 'w-grid', d: `M${left} ${Y(10 ** d)}h${wide}` }), text(left - 5, Y(10 ** d) + 4, number(10 ** d), { class: 'w-small', 'text-anchor': 'end' }));
      }
      nodes.push(text(left, 10, 'TFLOP/s', { class: 'w-small' }), text(left + wide, top + high + 31, 'FLOP per byte of global memory', { class: 'w-small', 'text-anchor': 'end' }));
      const line = (r, cls) => svg('path', { class: cls, d: `M${X(10 ** lo)} ${Y(r.bandwidth * 10 ** lo)}L${X(ridge(r))} ${Y(r.peak)}L${X(10 ** hi)} ${Y(r.peak)}` });
      if (roof.nominal) nodes.push(line(roof.nominal, 'w-roof w-dash'));
      nodes.push(line(roof, 'w-roof'));
      const marker = (intensity, cls, words, row) => {
        if (intensity < 10 ** lo || intensity > 10 ** hi) return;
        const x = X(intensity), y = Y(attainable(roof, intensity)), end = x > left + wide * .62;
        nodes.push(svg('path', { class: 'w-axis', 'stroke-dasharray': '3 3', d: `M${x} ${y}V${top + high}` }), svg('circle', { cx: x, cy: y, r: 5, class: cls }, svg('title', {}, words)));
        nodes.push(text(end ? x - 5 : x + 5, top + high - 8 - 15 * row, words, { class: 'w-small', 'text-anchor': end ? 'end' : 'start' }));
      };
      TILES.forEach(([bm, bn, words], i) => marker(tile(bm, bn, bytes), 'w-cell w-point', width < 480 ? words.split(':')[0] : words, i));
      marker(model.at, 'w-mark', `your ${s.bm} × ${s.bn}`, 3);
      const near = []; // points that lie on each other, with one label for all: [x, y, numbers]
      model.own.forEach((p, i) => {
        const x = X(Math.max(10 ** lo, Math.min(10 ** hi, p.intensity))), y = Y(Math.max(10 ** floor, p.tflops));
        nodes.push(rect(x - 4, y - 4, 8, 8, 'w-own', `${p.name}, ${p.shape.join(' × ')}: ${number(p.tflops)} TFLOP/s`));
        const group = near.find(([gx, gy]) => Math.abs(gx - x) < 9 && Math.abs(gy - y) < 9);
        if (group) group[2].push(i + 1);
        else near.push([x, y, [i + 1]]);
      });
      if (model.own.length <= 24) nodes.push(...labels(near, left, left + wide, text));
      const legend = el('p', { class: 'w-legend' }, el('span', { class: 'w-key w-cell' }), ' tiles of the labs ', el('span', { class: 'w-key w-mark' }), ' your tile ',
        el('span', { class: 'w-key w-own' }), model.given ? ' recorded kernels, at the operations per byte that their requests ask of global memory. Points above the slope are fed by caches. ' +
          'cuBLAS and wgmma were not counted: they are drawn as if each matrix travelled once.' : ' your results, drawn as if each matrix travelled once.');
      return [picture(width, top + high + 36, `Roofline on logarithmic axes. ${model.text}`, nodes), legend];
    }
  }
  customElements.define('roofline-chart', RooflineChart);
})(typeof globalThis !== 'undefined' ? globalThis : this);
