(function () {
  "use strict";
  var rungs = Array.prototype.slice.call(document.querySelectorAll("section.rung"));
  var links = Array.prototype.slice.call(document.querySelectorAll("nav a"));
  function show(section) {
    rungs.forEach(function (one) { one.classList.toggle("off", one !== section); });
    links.forEach(function (link) {
      if (link.hash === "#" + section.id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  }
  function go() {
    var target = document.getElementById(location.hash.slice(1));
    var section = target && target.closest("section.rung");
    if (!section && location.hash && document.querySelector("section.rung.off")) return;
    show(section || document.querySelector("section.rung[data-first]") || rungs[0]);
    if (!section) return;
    for (var up = target.parentElement; up; up = up.parentElement)
      if (up.tagName === "DETAILS") up.open = true;
    var nav = document.querySelector("nav");
    if (nav && getComputedStyle(nav).position === "sticky")
      document.documentElement.style.scrollPaddingTop = nav.offsetHeight + 12 + "px";
    target.scrollIntoView({ block: target === section ? "start" : "center" });
  }
  if (rungs.length) { window.addEventListener("hashchange", go); go(); }
})();
