// <latency-hiding>: one quarter of a multiprocessor, cycle by cycle: which warp issues, which wait, which slots stay empty.
//
// The model, gemmLab.models.latency. Each warp issues `work` instructions that do not depend on each other, then waits
// `latency` cycles for a load, and begins again. One instruction is issued per cycle: by the warp that issued last if it can
// go on, else by the one that has been ready for longest. Nothing else limits it.
// The reader guesses the share of slots that are used before the widget shows it.
(function (root) {
  'use strict';
  if (typeof module === 'object') require('./common.js');
  const lab = root.gemmLab;
  const SLOTS = 16; // warps of a quarter: 64 of a multiprocessor (compute capability 8.0, 9.0), divided by four

  /** What every warp does in each of `cycles` cycles: 'issue', 'ready' or 'wait'; and which warp issues, or -1. */
  function run({ warps, latency, work }, cycles) {
    const done = Array(warps).fill(0), ready = Array(warps).fill(0), states = Array.from({ length: warps }, () => []), issued = [];
    let last = -1;
    for (let t = 0; t < cycles; ++t) {
      const can = w => ready[w] <= t;
      let chosen = last >= 0 && done[last] > 0 && can(last) ? last : -1;
      if (chosen < 0) for (let w = 0; w < warps; ++w) if (can(w) && (chosen < 0 || ready[w] < ready[chosen])) chosen = w;
      for (let w = 0; w < warps; ++w) states[w].push(w === chosen ? 'issue' : can(w) ? 'ready' : 'wait');
      issued.push(chosen);
      last = chosen;
      if (chosen >= 0 && ++done[chosen] === work) {
        done[chosen] = 0;
        ready[chosen] = t + 1 + latency;
      }
    }
    return { states, issued };
  }
  /** Slots used in a period once the beginning is over, and the warps that would use all of them. */
  function steady(s) {
    const period = Math.max(s.work + s.latency, s.warps * s.work), { issued } = run(s, 3 * period);
    const used = issued.slice(period, 2 * period).filter(w => w >= 0).length;
    return { period, used, share: used / period, enough: Math.ceil((s.work + s.latency) / s.work) };
  }
  const model = { SLOTS, run, steady };
  lab.models.latency = model;
  if (typeof module === 'object') module.exports = model;
  if (typeof HTMLElement === 'undefined') return;

  const { el, svg, text, rect, picture, percent, plural } = lab;
  const CYCLES = 64, STEP = 60; // cycles drawn; milliseconds a cycle while it plays
  class LatencyHiding extends lab.Widget {
    static get title() { return 'Latency hiding: one quarter of a multiprocessor'; }
    static get controls() {
      return [{ name: 'warps', label: `Warps here, of ${SLOTS}`, kind: 'range', min: 1, max: SLOTS, step: 1, value: 4 },
        { name: 'latency', label: 'A load takes (cycles)', kind: 'range', min: 0, max: 40, step: 1, value: 20 },
        { name: 'work', label: 'Independent instructions per load', kind: 'range', min: 1, max: 8, step: 1, value: 2 },
        { name: 'guess', label: 'Your guess: slots used, in %', kind: 'number', min: 0, max: 100, step: 'any', value: '' }];
    }
    static get presets() {
      return [
        { label: 'One warp', values: { warps: 1, latency: 20, work: 1 } },
        { label: 'Eight warps', values: { warps: 8, latency: 20, work: 1 } },
        { label: 'Half the warps, twice the work', values: { warps: 4, latency: 20, work: 2 } },
        { label: 'More than enough', values: { warps: 16, latency: 20, work: 4 } },
      ];
    }
    start() {
      super.start();
      if (this.steps) return;
      this.go = el('button', { type: 'button' }, 'Run');
      this.go.addEventListener('click', () => this.play());
      this.skip = el('button', { type: 'button' }, 'Show the end');
      this.skip.addEventListener('click', () => this.reveal(CYCLES));
      this.steps = el('div', { class: 'w-steps', role: 'group', 'aria-label': 'Run' }, this.go, this.skip);
      this.result.before(this.steps);
      this.update();
    }
    disconnectedCallback() {
      this.stop();
      super.disconnectedCallback();
    }
    collect() {
      // Another question has another answer: what was shown is hidden again. A guess changes nothing.
      const asked = ['warps', 'latency', 'work'].map(name => this.inputs[name].input.value).join();
      if (asked !== this.asked) {
        this.asked = asked;
        this.stop();
        this.shown = 0;
        this.asking = false;
        this.inputs.guess.input.value = '';
      }
      super.collect();
      const { input } = this.inputs.guess;
      if (input.value === '') input.setAttribute('aria-invalid', 'false'); // none yet
    }
    /** Per cent, or null if there is none. */
    guess() {
      const { value } = this.inputs.guess.input, guess = Number(value);
      return value !== '' && guess >= 0 && guess <= 100 ? guess : null;
    }
    play() {
      if (this.timer) { this.stop(); this.update(); return; }
      if (this.guess() === null && !this.shown) {
        this.asking = true;
        this.update();
        this.inputs.guess.input.focus();
        return;
      }
      if (lab.still()) { this.reveal(CYCLES); return; }
      if (this.shown >= CYCLES) this.shown = 0;
      this.result.setAttribute('aria-live', 'off'); // no running commentary
      this.timer = setInterval(() => {
        if (!this.isConnected || this.shown >= CYCLES) { this.stop(); this.update(); return; }
        this.reveal(this.shown + 1);
      }, STEP);
      this.update();
    }
    stop() {
      clearInterval(this.timer);
      this.timer = null;
      if (this.result) this.result.setAttribute('aria-live', 'polite');
    }
    reveal(cycles) {
      if (cycles >= CYCLES) this.stop();
      this.shown = cycles;
      this.update();
    }
    read(s) {
      const shown = this.shown || 0, guessed = this.guess(), r = steady(s), over = shown >= CYCLES;
      if (this.steps) {
        this.go.textContent = this.timer ? 'Pause' : over ? 'Run again' : 'Run';
        this.go.hidden = over && lab.still();
        this.skip.hidden = over || lab.still();
        this.skip.disabled = guessed === null && !shown;
      }
      const question = `${plural(s.warps, 'warp')}: ${percent(s.warps / SLOTS)} occupancy. Each issues ${plural(s.work, 'instruction')}, then waits ${plural(s.latency, 'cycle')}.`;
      let words = `${question} What share of the issue slots is used? ${this.asking && guessed === null ? 'Type a guess first.' : 'Guess, then run.'}`;
      if (this.timer) words = `${question} Cycle ${shown} of ${CYCLES}.`;
      else if (shown && !over) words = `${question} Paused at cycle ${shown} of ${CYCLES}.`;
      if (over) {
        const guess = guessed === null ? '' : Math.abs(guessed - 100 * r.share) < 2 ? ` Your guess of ${guessed} % is right.` : ` You guessed ${guessed} %.`;
        words = `${question} ${r.used} of ${plural(r.period, 'slot')} used in every round: ${percent(r.share)}.${guess} ` +
          (s.warps >= r.enough ? (s.warps > r.enough ? `${r.enough} would be enough.` : 'One warp fewer would leave slots empty.') :
            r.enough <= SLOTS ? `${r.enough} warps would use all.` : `Not even ${SLOTS} warps would use all: that takes ${r.enough}.`);
      }
      return { text: words, shown, over, trace: run(s, CYCLES), r };
    }
    draw(model, s, width) {
      const left = width < 480 ? 30 : 74, cell = (width - left - 4) / CYCLES, high = 13, gap = 3, nodes = [], top = 20;
      const y = row => top + row * (high + gap), bottom = y(SLOTS) + 12;
      const kinds = { issue: 'w-mark', ready: 'w-empty', wait: 'w-cell' };
      nodes.push(text(left, 12, 'cycles', { class: 'w-small' }));
      for (let w = 0; w < SLOTS; ++w) {
        const here = w < s.warps;
        nodes.push(text(left - 6, y(w) + high - 2, here ? (width < 480 ? w : `warp ${w}`) : '–', { class: 'w-small', 'text-anchor': 'end' }));
        if (!here || !model.shown) nodes.push(rect(left, y(w), cell * CYCLES, high, 'w-empty'));
        if (!here) continue;
        // Cells of one kind side by side are one rectangle.
        const row = model.trace.states[w].slice(0, model.shown);
        for (let from = 0, to; from < row.length; from = to) {
          for (to = from + 1; to < row.length && row[to] === row[from]; ++to);
          nodes.push(rect(left + from * cell, y(w), (to - from) * cell, high, kinds[row[from]]));
        }
      }
      nodes.push(text(left - 6, bottom + high - 1, width < 480 ? 'slot' : 'issue slot', { class: 'w-small w-strong', 'text-anchor': 'end' }));
      if (!model.shown) nodes.push(rect(left, bottom, cell * CYCLES, high + 4, 'w-empty'));
      model.trace.issued.slice(0, model.shown).forEach((w, t) => {
        nodes.push(rect(left + t * cell, bottom, cell, high + 4, w < 0 ? 'w-bad' : 'w-mark', w < 0 ? `cycle ${t}: empty` : `cycle ${t}: warp ${w}`));
      });
      for (const t of [0, 16, 32, 48, 64]) nodes.push(svg('path', { class: 'w-axis', d: `M${left + t * cell} ${bottom + high + 4}v4` }),
        text(left + t * cell, bottom + high + 20, t, { class: 'w-small', 'text-anchor': t === 64 ? 'end' : 'middle' }));
      const legend = el('p', { class: 'w-legend' }, el('span', { class: 'w-key w-mark' }), ' issues ', el('span', { class: 'w-key w-cell' }), ' waits for its load ',
        el('span', { class: 'w-key w-empty' }), ' ready, or nothing there ', el('span', { class: 'w-key w-bad' }), ' empty slot');
      return [picture(width, bottom + high + 24, `Rows of warps over ${CYCLES} cycles, and below them the issue slot of each cycle. ${model.text}`, nodes), legend];
    }
  }
  customElements.define('latency-hiding', LatencyHiding);
})(typeof globalThis !== 'undefined' ? globalThis : this);
