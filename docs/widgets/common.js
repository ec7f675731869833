// What the widgets share: small builders for HTML and SVG, number formats, the little language of
// address patterns, and the base class of the custom elements.
//
// Classic scripts on purpose: a module does not load from file://. Load this file before the others.
// Everything hangs on one global, gemmLab; a model (gemmLab.models.*) is a pure function of its
// arguments and needs no page, so that node can `require` the files as well.
(function (root) {
  'use strict';
  const lab = root.gemmLab = root.gemmLab || { models: {} };

  // ---- numbers

  const THIN = '\u202f';
  /** 1234567 -> "1 234 567"; fractions get up to `digits` significant digits. */
  function number(value, digits) {
    if (!Number.isFinite(value)) return '–';
    if (!Number.isInteger(value)) {
      const rounded = Number(value.toPrecision(digits || 3));
      if (Math.abs(rounded) < 1000 && !Number.isInteger(rounded)) return String(rounded);
      value = Math.round(value);
    }
    return String(value).replace(/\B(?=(\d{3})+$)/g, THIN);
  }
  /** Bytes with a binary unit. */
  function bytes(value) {
    const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
    let at = 0;
    while (value >= 1024 && at + 1 < units.length) { value /= 1024; ++at; }
    return number(value) + ' ' + (at === 0 && value === 1 ? 'byte' : units[at]);
  }
  const plural = (n, word) => number(n) + ' ' + word + (n === 1 ? '' : 's');
  const percent = share => number(100 * share, 3) + ' %';

  // ---- address patterns: an integer expression in `lane`, by Python's rules of precedence:
  //   lane*33*4      (lane&1)*128      lane*16 if lane<8 else inactive
  // `inactive` takes the lane out. / and // both round down.

  function parse(text) {
    const tokens = text.match(/\d+|[a-z_]+|\/\/|<<|>>|<=|>=|==|!=|[-+*/%&|^()<>]|\S/gi) || [];
    let at = 0;
    const peek = () => tokens[at];
    const fail = what => { throw new Error(what + (at < tokens.length ? ` at “${tokens[at]}”` : ' at the end')); };
    const expect = token => { if (tokens[at++] !== token) { --at; fail(`“${token}” is missing`); } };
    const floor = (a, b) => { if (b === 0) throw new Error('division by zero'); return Math.floor(a / b); };
    const levels = [
      { '==': (a, b) => a === b, '!=': (a, b) => a !== b, '<': (a, b) => a < b, '<=': (a, b) => a <= b,
        '>': (a, b) => a > b, '>=': (a, b) => a >= b },
      { '|': (a, b) => a | b }, { '^': (a, b) => a ^ b }, { '&': (a, b) => a & b },
      { '<<': (a, b) => a << b, '>>': (a, b) => a >> b },
      { '+': (a, b) => a + b, '-': (a, b) => a - b },
      { '*': (a, b) => a * b, '/': floor, '//': floor, '%': (a, b) => a - floor(a, b) * b },
    ];
    function binary(level) {
      if (level === levels.length) return unary();
      let left = binary(level + 1);
      while (Object.prototype.hasOwnProperty.call(levels[level], peek())) {
        const operation = levels[level][tokens[at++]], l = left, r = binary(level + 1);
        left = lane => {
          const a = l(lane), b = r(lane);
          return a === null || b === null ? null : Number(operation(a, b));
        };
      }
      return left;
    }
    function unary() {
      const token = peek();
      if (token === '-') { ++at; const inner = unary(); return lane => { const v = inner(lane); return v === null ? v : -v; }; }
      if (token === '(') { ++at; const inner = choice(); expect(')'); return inner; }
      if (token === 'lane' || token === 'i') { ++at; return lane => lane; }
      if (token === 'inactive') { ++at; return () => null; }
      if (token !== undefined && /^\d+$/.test(token)) { ++at; const value = Number(token); return () => value; }
      return fail('a number or lane is missing');
    }
    function choice() {
      const yes = binary(0);
      if (peek() !== 'if') return yes;
      ++at;
      const condition = binary(0);
      expect('else');
      const no = choice();
      return lane => (condition(lane) ? yes(lane) : no(lane));
    }
    const result = choice();
    if (at < tokens.length) fail('this is too much');
    return result;
  }
  /** Byte addresses of the 32 lanes; null for a lane that takes no part. Throws an Error in words. */
  function lanes(text) {
    const address = parse(text);
    return Array.from({ length: 32 }, (_, lane) => {
      const value = address(lane);
      if (value !== null && value < 0) throw new Error(`lane ${lane} would be at ${value}, before the beginning`);
      return value;
    });
  }
  /** The first lane whose address is no multiple of the access's size, or -1. */
  const misaligned = (address, size) => address.findIndex(a => a !== null && a % size !== 0);

  Object.assign(lab, { number, bytes, plural, percent, lanes, misaligned });
  if (typeof module === 'object') module.exports = lab;
  if (typeof HTMLElement === 'undefined') return;

  // ---- building

  const SVG = 'http://www.w3.org/2000/svg';
  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === false || value === undefined || value === null) continue;
      node.setAttribute(name, value === true ? '' : String(value));
    }
    for (const child of children.flat(Infinity)) if (child !== null && child !== undefined) node.append(child);
    return node;
  }
  const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
  const text = (x, y, words, attributes) => svg('text', Object.assign({ x, y }, attributes), words);
  /** A drawing of its natural size with one label that says what it shows. */
  function picture(width, height, label, ...children) {
    return svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': label }, children);
  }
  const rect = (x, y, width, height, cls, tip) =>
    svg('rect', { x, y, width: Math.max(0, width), height: Math.max(0, height), class: cls }, tip ? svg('title', {}, tip) : null);
  function table(caption, head, rows) {
    return el('table', {}, el('caption', {}, caption),
      el('thead', {}, el('tr', {}, head.map(h => el('th', { scope: 'col' }, h)))),
      el('tbody', {}, rows.map(row => el('tr', {}, row.map((cell, i) => el(i === 0 ? 'th' : 'td', i === 0 ? { scope: 'row' } : {}, String(cell)))))));
  }
  const still = () => root.matchMedia && root.matchMedia('(prefers-reduced-motion: reduce)').matches;

  // ---- the base class
  //
  // A widget says which controls it has, and turns their state into words and a drawing:
  //   static title, static controls, static presets     see below
  //   read(state)    -> a model: { text, error?, details? } and whatever draw wants
  //   draw(model, state, width) -> nodes for the stage, laid out for that many pixels
  // Initial values come from attributes of the same name, or from the address: page.html#bank-explorer?stride=33
  // A control: { name, label, kind: range | number | select | text | check | file, value, min, max, step, options, when }.

  let counter = 0;
  class Widget extends HTMLElement {
    connectedCallback() {
      if (this.state) return;
      // In the head of a page the element starts before its fallback content is there.
      if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', () => this.start(), { once: true });
      else this.start();
    }
    disconnectedCallback() { if (this.observer) this.observer.disconnect(); }

    start() {
      if (this.state) return;
      const type = this.constructor, prefix = `w${++counter}`;
      this.state = {};
      this.inputs = {};
      this.classList.add('gemm-widget');
      this.setAttribute('role', 'group');
      this.setAttribute('aria-labelledby', prefix + 't');
      this.form = el('form', { class: 'w-controls', autocomplete: 'off' });
      for (const control of type.controls) this.form.append(this.field(control, prefix));
      const presets = (type.presets || []).map(preset => {
        const button = el('button', { type: 'button' }, preset.label);
        button.addEventListener('click', () => this.set(preset.values));
        return button;
      });
      this.result = el('output', { class: 'w-result', 'aria-live': 'polite' });
      this.stage = el('div', { class: 'w-stage' });
      this.folds = el('div', { class: 'w-folds' });
      const link = el('button', { type: 'button', class: 'w-link' }, 'Link to this setting');
      link.addEventListener('click', () => { location.hash = this.address(); });
      this.replaceChildren(
        el('div', { class: 'w-head' }, el('strong', { class: 'w-title', id: prefix + 't' }, type.title), link),
        presets.length ? el('div', { class: 'w-presets', role: 'group', 'aria-label': 'Examples' }, presets) : '',
        this.form, this.result, this.stage, this.folds);
      this.form.addEventListener('submit', event => event.preventDefault());
      this.form.addEventListener('input', () => this.collect());
      this.form.addEventListener('change', () => this.collect());
      root.addEventListener('hashchange', () => this.fromAddress());
      const given = {};
      for (const { name } of type.controls) if (this.hasAttribute(name)) given[name] = this.getAttribute(name);
      this.set(given);
      this.fromAddress();
      if (root.ResizeObserver) {
        this.observer = new ResizeObserver(() => { if (this.width() !== this.drawn) this.paint(); });
        this.observer.observe(this.stage);
      }
    }

    field(control, prefix) {
      const id = prefix + control.name;
      const attributes = { id, name: control.name, min: control.min, max: control.max, step: control.step };
      let input;
      if (control.kind === 'select') {
        input = el('select', attributes, control.options.map(([value, words]) => el('option', { value }, words)));
      } else {
        const type = { check: 'checkbox' }[control.kind] || control.kind;
        input = el('input', Object.assign(attributes, { type, accept: control.accept, spellcheck: type === 'text' ? 'false' : null }));
      }
      if (control.kind === 'check') input.checked = control.value;
      else if (control.kind !== 'file') input.value = control.value;
      const box = el('div', { class: 'w-field w-' + control.kind }, el('label', { for: id }, control.label), input);
      if (control.kind === 'range') {
        const shown = el('output', { for: id, class: 'w-value' });
        box.append(shown);
        control = Object.assign({ shown }, control);
      }
      this.inputs[control.name] = { control, input, box };
      return box;
    }

    /** What the fields say. A number that is none, or out of bounds, leaves the last one in force. */
    collect() {
      for (const [name, { control, input }] of Object.entries(this.inputs)) {
        if (control.kind === 'file') continue;
        if (control.kind === 'check') this.state[name] = input.checked;
        else if (control.kind === 'select') {
          this.state[name] = typeof control.value === 'number' ? Number(input.value) : input.value;
        } else if (control.kind === 'text') this.state[name] = input.value;
        else {
          const value = Number(input.value), min = Number(control.min), max = Number(control.max);
          const right = input.value !== '' && Number.isFinite(value) && value >= min && value <= max &&
            (control.step === 'any' || Number.isInteger(value));
          if (right) this.state[name] = value;
          else if (!(name in this.state)) this.state[name] = control.value;
          input.setAttribute('aria-invalid', String(!right));
        }
        if (control.shown) control.shown.textContent = number(this.state[name]);
      }
      for (const { control, box } of Object.values(this.inputs)) box.hidden = Boolean(control.when) && !control.when(this.state);
      this.update();
    }

    /** Sets fields by name; names that are none are passed over. */
    set(values) {
      for (const [name, value] of Object.entries(values)) {
        const field = this.inputs[name];
        if (!field || field.control.kind === 'file') continue;
        if (field.control.kind === 'check') field.input.checked = String(value) === 'true';
        else if (field.control.kind !== 'select' || [...field.input.options].some(o => o.value === String(value))) field.input.value = value;
      }
      this.collect();
    }

    address() {
      const query = new URLSearchParams();
      for (const { control } of Object.values(this.inputs)) {
        if (control.kind !== 'file' && !(control.when && !control.when(this.state))) query.set(control.name, this.state[control.name]);
      }
      return `${this.id || this.localName}?${query}`;
    }
    fromAddress() {
      const [name, query] = location.hash.slice(1).split('?');
      if (query === undefined || name !== (this.id || this.localName)) return;
      this.set(Object.fromEntries(new URLSearchParams(query)));
      this.scrollIntoView({ block: 'start', behavior: still() ? 'auto' : 'smooth' });
    }

    update() {
      this.model = this.read(this.state);
      this.result.textContent = this.model.text;
      this.result.classList.toggle('w-wrong', Boolean(this.model.error));
      this.paint();
      const open = [...this.folds.querySelectorAll('details')].map(d => d.open);
      this.folds.replaceChildren(...(this.model.details || []).map(([summary, content], i) => {
        // A wide table scrolls within its box, which the keyboard can reach.
        const box = el('div', { class: 'w-scroll', tabindex: '0', role: 'group', 'aria-label': summary }, content);
        return el('details', { open: Boolean(open[i]) }, el('summary', {}, summary), box);
      }));
    }
    width() { return Math.floor(this.stage.clientWidth) || 640; }
    paint() {
      this.drawn = this.width();
      this.stage.replaceChildren(...(this.model.error ? [] : [this.draw(this.model, this.state, this.drawn)].flat(Infinity)));
    }
  }

  Object.assign(lab, { el, svg, text, rect, picture, table, still, Widget });
})(typeof globalThis !== 'undefined' ? globalThis : this);
