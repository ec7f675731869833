"use strict";
(() => {
  const MOST = 50;
  const rows = [...document.querySelectorAll("#rows tr")];
  const texts = rows.map((row) => row.cells[0].textContent.toLowerCase() + " " + row.cells[1].textContent.toLowerCase());
  const tags = rows.map((row) => new Set(JSON.parse(row.dataset.tags)));
  const search = document.getElementById("search"), only = document.getElementById("only");
  const shown = document.getElementById("shown"), more = document.getElementById("more");
  let all = false;
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean), tag = only.value;
    let found = 0;
    rows.forEach((row, i) => {
      const fits = (!tag || tags[i].has(tag)) && words.every((word) => texts[i].includes(word));
      row.hidden = !fits || (++found > MOST && !all);
    });
    shown.textContent = `${found} of ${rows.length}` + (found > MOST && !all ? `, the first ${MOST} shown` : "");
    more.hidden = found <= MOST || all;
  };
  const begin = () => { all = false; filter(); };
  search.addEventListener("input", begin);
  only.addEventListener("change", begin);
  more.addEventListener("click", () => { all = true; filter(); });
  document.querySelector(".filter").addEventListener("submit", (event) => event.preventDefault());
  document.querySelectorAll("button[data-tag]").forEach((button) => button.addEventListener("click", () => {
    only.value = button.dataset.tag;
    search.value = "";
    begin();
    document.getElementById("students").scrollIntoView();
  }));
  filter();
})();
