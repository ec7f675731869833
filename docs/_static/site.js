// Predictions and bounds. Everything here works from file:// and keeps what the reader typed in their own browser.
(function () {
  'use strict';

  const kept = {
    get(key) { try { return localStorage.getItem('gemm-lab-' + key); } catch { return null; } },
    set(key, value) { try { localStorage.setItem('gemm-lab-' + key, value); } catch { /* private mode: not kept */ } },
  };

  /// Three digits, as docs/_ext/measured.py writes them.
  function shown(number) {
    if (number === 0) return '0';
    const magnitude = Math.abs(number);
    return number.toFixed(magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : magnitude >= 1 ? 2 : 3);
  }

  // ---- predictions
  /// "524 288", "1/8" and "12.5 %" are numbers too.
  function parsed(text) {
    const plain = text.replace(/[\s,%\u202f\u00a0]/g, '');
    const fraction = plain.match(/^(\d+(?:\.\d+)?)\/(\d+(?:\.\d+)?)$/);
    return fraction ? fraction[1] / fraction[2] : plain === '' ? NaN : Number(plain);
  }
  /// What is said about a number.
  function judged(guess, right) {
    const ratio = guess / right;
    return guess === right ? 'Exactly.'
      : ratio > 0.8 && ratio < 1.25 ? 'Close.'
        : guess > 0 ? `Off by a factor of ${shown(ratio > 1 ? ratio : 1 / ratio)}: too ${ratio > 1 ? 'high' : 'low'}.` : 'Not quite.';
  }
  function setUpPrediction(form) {
    const input = form.querySelector('input'), output = form.querySelector('output'), answer = form.querySelector('details');
    const choices = [...form.querySelectorAll('input[type=radio]')];
    const right = parsed(form.dataset.answer), key = location.pathname.split('/').pop() + (input.id || input.name);
    const before = kept.get(key) || '';
    if (choices.length) for (const one of choices) one.checked = one.value === before;
    else input.value = before;
    answer.hidden = before === ''; // first the guess
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const typed = choices.length ? choices.find((one) => one.checked)?.value ?? '' : input.value, guess = parsed(typed);
      if (Number.isNaN(guess)) {
        output.textContent = choices.length ? 'Choose one first.' : 'Type a number first.';
        return;
      }
      kept.set(key, typed);
      output.textContent = !choices.length ? judged(guess, right) : guess === right ? 'Right.' : 'No.';
      answer.hidden = false;
      answer.open = true;
    });
  }

  // ---- bounds
  const fields = [['sms', 'multiprocessors'], ['mhz', 'MHz'], ['lanes', 'FP32 lanes each'], ['gbs', 'GB/s']];
  function setUpBounds(box) {
    const gpus = JSON.parse(box.querySelector('script').textContent);
    const bar = box.querySelector('.bounds-gpu');
    const select = document.createElement('select');
    for (const gpu of gpus) select.add(new Option(gpu.name, gpu.name));
    select.add(new Option('another one', ''));
    const label = document.createElement('label');
    label.append('your GPU ', select);
    bar.append(label);
    const inputs = {};
    for (const [name, text] of fields) {
      const one = document.createElement('label');
      inputs[name] = document.createElement('input');
      inputs[name].type = 'number';
      inputs[name].min = 1;
      one.append(inputs[name], text);
      bar.append(one);
    }
    let gpu = null;
    function compute() {
      const names = { ...gpu };
      for (const [name] of fields) names[name] = Number(inputs[name].value) || 0;
      box.querySelector('.gpu-name').textContent = select.value || 'your GPU';
      for (const row of box.querySelectorAll('tr[data-formula]')) {
        const keys = Object.keys(names).filter((key) => typeof names[key] === 'number');
        const value = new Function('min', 'max', ...keys, `return (${row.dataset.formula});`)(
          Math.min, Math.max, ...keys.map((key) => names[key]));
        if (row.dataset.name) names[row.dataset.name] = value;
        else row.querySelector('.value').textContent = Number.isFinite(value) ? shown(value) : '–';
      }
    }
    function take(state) {
      gpu = gpus.find((one) => one.name === state.name) || gpus.find((one) => one.name === box.dataset.default);
      select.value = gpus.some((one) => one.name === state.name) ? state.name : '';
      for (const [name] of fields) inputs[name].value = state[name] ?? gpu[name];
      compute();
    }
    function changed() {
      const state = { name: select.value };
      for (const [name] of fields) state[name] = inputs[name].value;
      kept.set('gpu', JSON.stringify(state));
      for (const other of document.querySelectorAll('.bounds')) other.take(state);
    }
    select.addEventListener('change', () => {
      const chosen = gpus.find((one) => one.name === select.value);
      if (chosen) for (const [name] of fields) inputs[name].value = chosen[name];
      changed();
    });
    for (const [name] of fields) {
      inputs[name].addEventListener('change', () => {
        const same = gpus.find((one) => one.name === select.value);
        if (same && String(same[name]) !== inputs[name].value) select.value = '';
        changed();
      });
    }
    box.take = take;
    let state = { name: box.dataset.default };
    try { state = JSON.parse(kept.get('gpu')) || state; } catch { /* as by default */ }
    take(state);
  }

  // ---- paper: what is folded is printed, but no answer that was not asked for
  let opened = [];
  window.addEventListener('beforeprint', () => {
    opened = [...document.querySelectorAll('article details:not([open])')].filter((one) => !one.closest('.predict, .answer, .provenance, .gemm-widget'));
    for (const one of opened) one.open = true;
  });
  window.addEventListener('afterprint', () => { for (const one of opened) one.open = false; });

  document.addEventListener('DOMContentLoaded', () => {
    document.querySelectorAll('form.predict').forEach(setUpPrediction);
    document.querySelectorAll('.bounds').forEach(setUpBounds);
    // The theme leaves the title and the search beside the list of pages, outside of every landmark.
    const side = document.getElementById('pst-primary-sidebar');
    if (side) { side.setAttribute('role', 'navigation'); side.setAttribute('aria-label', 'Site'); }
  });
})();
