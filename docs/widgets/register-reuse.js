// <register-reuse>: what a tile of TM x TN elements per thread saves in loads, and what it costs in registers.
//
// The model, gemmLab.models.reuse: in one step of k a thread loads TM elements of A and TN of B and forms TM * TN
// products. A multiprocessor starts one load of a warp per cycle and four float multiply-adds (lab 2's bound).
(function (root) {
  'use strict';
  if (typeof module === 'object') require('./common.js');
  const lab = root.gemmLab;
  const FMA_PER_LOAD = 4, FILE = 65536, MOST = 255, THREADS = 2048;

  /** width: elements per load instruction (1, 2, 4; wider ones for the fragments of A and B alike). */
  function reuse({ TM, TN, width }) {
    const loads = TM + TN, fmas = TM * TN, requests = Math.ceil(TM / width) + Math.ceil(TN / width);
    const registers = fmas + loads; // floats; addresses and counters come on top
    return { loads, fmas, requests, registers, spills: registers > MOST,
             loadsPerFma: loads / fmas, requestsPerFma: requests / fmas,
             bound: Math.min(1, fmas / (FMA_PER_LOAD * requests)),
             intensity: 2 * fmas / (4 * loads), // FLOP per byte that the thread loads
             // Registers go to warps in units of 256, from four sub-partitions with a quarter each.
             threads: registers > MOST ? 0 : Math.min(THREADS, 32 * 4 * Math.floor(FILE / 4 / (256 * Math.ceil(registers / 8)))) };
  }
  const model = { reuse };
  lab.models.reuse = model;
  if (typeof module === 'object') module.exports = model;
  if (typeof HTMLElement === 'undefined') return;

  const { el, text, rect, picture, table, number, percent, plural } = lab;
  class RegisterReuse extends lab.Widget {
    static get title() { return 'A tile of C in the registers of one thread'; }
    static get controls() {
      return [{ name: 'TM', label: 'TM: rows', kind: 'range', min: 1, max: 16, step: 1, value: 8 },
        { name: 'TN', label: 'TN: columns', kind: 'range', min: 1, max: 16, step: 1, value: 4 },
        { name: 'width', label: 'A load moves', kind: 'select', value: 1, options: [[1, '1 float'], [2, '2 floats'], [4, '4 floats (float4)']] }];
    }
    static get presets() {
      return [[1, 1, 1], [4, 4, 1], [8, 4, 1], [8, 8, 1], [8, 8, 4], [16, 16, 4]].map(([TM, TN, width]) =>
        ({ label: `${TM} × ${TN}` + (width > 1 ? ', float4' : ''), values: { TM, TN, width } }));
    }
    read(s) {
      const r = reuse(s), tiles = [[1, 1], [2, 2], [4, 4], [8, 4], [8, 8], [16, 8], [16, 16]].map(([TM, TN]) => {
        const other = reuse({ TM, TN, width: s.width });
        return [`${TM} × ${TN}`, number(other.loadsPerFma), number(other.requestsPerFma), percent(other.bound), number(other.intensity), other.registers,
          other.spills ? 'spills' : number(other.threads)];
      });
      const words = `Per step of k: ${plural(r.loads, 'element')} loaded by ${plural(r.requests, 'instruction')} for ${plural(r.fmas, 'multiply-add')}: ` +
        `${number(r.requestsPerFma)} loads per multiply-add, at most ${percent(r.bound)} of the arithmetic peak; ${number(r.intensity)} FLOP per byte loaded. ` +
        (r.spills ? `${r.registers} registers for the tile alone: more than 255, so some spill into local memory.` :
          `${r.registers} registers for the tile, so at most ${number(r.threads)} of 2${'\u202f'}048 threads fit on a multiprocessor.`);
      return Object.assign(r, { text: words, details: [['Other tiles', table('With the same width of loads', ['tile', 'elements per multiply-add',
        'loads per multiply-add', 'at most, of the peak', 'FLOP per byte', 'registers', 'threads that fit'], tiles)]] });
    }
    draw(model, s, width) {
      const unit = Math.max(12, Math.min(22, Math.floor(Math.min(width - 70, 340) / 17))), left = 48, top = 34, nodes = [];
      const x0 = left + unit + 14, y0 = top + unit + 14;
      for (let i = 0; i < s.TM; ++i) nodes.push(rect(left, y0 + i * unit, unit, unit, 'w-a', `a[${i}]`));
      for (let j = 0; j < s.TN; ++j) nodes.push(rect(x0 + j * unit, top, unit, unit, 'w-b', `b[${j}]`));
      for (let i = 0; i < s.TM; ++i) for (let j = 0; j < s.TN; ++j) nodes.push(rect(x0 + j * unit, y0 + i * unit, unit, unit, 'w-c', `acc[${i}][${j}] += a[${i}] * b[${j}]`));
      // Outlines of what one load instruction brings.
      if (s.width > 1) for (let i = 0; i < s.TM; i += s.width) nodes.push(rect(left - 2, y0 + i * unit - 1, unit + 4, Math.min(s.width, s.TM - i) * unit + 2, 'w-axis'));
      if (s.width > 1) for (let j = 0; j < s.TN; j += s.width) nodes.push(rect(x0 + j * unit - 1, top - 2, Math.min(s.width, s.TN - j) * unit + 2, unit + 4, 'w-axis'));
      nodes.push(text(2, y0 + 14, `a: ${s.TM}`, { class: 'w-strong w-fg-a' }), text(x0, top - 12, `b: ${s.TN}`, { class: 'w-strong w-fg-b' }));
      const beside = width >= 560, bx = beside ? x0 + 16 * unit + 30 : 2, room = width - bx - 4;
      let by = beside ? top : y0 + s.TM * unit + 22;
      nodes.push(text(x0, y0 + s.TM * unit + 16, `acc: ${number(model.fmas)}`, { class: 'w-strong w-fg-c' }));
      if (!beside) by += 16;
      const bar = (name, share, words, cls) => {
        nodes.push(text(bx, by + 10, name, { class: 'w-small' }), rect(bx, by + 16, room, 13, 'w-empty'), rect(bx, by + 16, room * Math.min(1, share), 13, cls),
          text(bx, by + 43, words, { class: 'w-strong' }));
        by += 58;
      };
      bar('multiply-adds that the loads allow', model.bound, `${percent(model.bound)} of the peak`, 'w-mark');
      bar('registers of 255', model.registers / MOST, model.spills ? `${model.registers}: spills` : `${model.registers}`, model.spills ? 'w-bad' : 'w-mark');
      bar('threads of 2048 on a multiprocessor', model.threads / THREADS, model.spills ? 'the tile does not fit' : number(model.threads), 'w-mark');
      return picture(width, Math.max(by, y0 + s.TM * unit + 22), `${s.TM} elements of A times ${s.TN} of B make ${model.fmas} products. ${model.text}`, nodes);
    }
  }
  customElements.define('register-reuse', RegisterReuse);
})(typeof globalThis !== 'undefined' ? globalThis : this);
