"use strict";
// Scripts only add convenience: the page has the same content without them.
(() => {
  const tip = document.getElementById("tip");

  const show = (hit) => {
    tip.textContent = hit.getAttribute("aria-label");
    tip.hidden = false;
    const box = hit.getBoundingClientRect();
    const left = box.left + box.width / 2 - tip.offsetWidth / 2;
    const most = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(left, most)) + scrollX}px`;
    const above = box.top - tip.offsetHeight - 6;
    tip.style.top = `${(above > 0 ? above : box.bottom + 6) + scrollY}px`;
  };
  const hide = () => { tip.hidden = true; };

  for (const drawing of document.querySelectorAll(".drawing")) {
    const hits = [...drawing.querySelectorAll(".hit")];
    for (const [place, hit] of hits.entries()) {
      // One Tab stop for each figure; the arrow keys move between points.
      hit.setAttribute("tabindex", place === 0 ? "0" : "-1");
      hit.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        const shown = hits.filter((other) => !other.classList.contains("gone"));
        shown.at((shown.indexOf(hit) + step) % shown.length).focus();
      });
      for (const event of ["mouseenter", "focus", "click"]) hit.addEventListener(event, () => show(hit));
      for (const event of ["mouseleave", "blur"]) hit.addEventListener(event, hide);
    }
  }
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });

  // A legend entry shows or hides its series.
  for (const drawing of document.querySelectorAll(".drawing")) {
    for (const entry of drawing.querySelectorAll('[id*="-legend-"][id$="-text"]')) {
      const group = entry.id.match(/-legend-(\w+-\d+)-text$/)[1];
      const handle = drawing.querySelector(`[id$="-legend-${group}-handle"]`);
      const parts = drawing.querySelectorAll(`[id*="-${group}-"]:not([id*="-legend-"]), .hit[data-group="${group}"]`);
      entry.setAttribute("role", "checkbox");
      entry.setAttribute("tabindex", "0");
      entry.setAttribute("aria-checked", "true");
      entry.setAttribute("aria-label", `show ${entry.textContent.trim()}`);
      const toggle = () => {
        const on = entry.getAttribute("aria-checked") !== "true";
        entry.setAttribute("aria-checked", String(on));
        handle?.classList.toggle("off", !on);
        for (const part of parts) part.classList.toggle("gone", !on);
      };
      entry.addEventListener("click", toggle);
      handle?.addEventListener("click", toggle);
      entry.addEventListener("keydown", (event) => {
        if (event.key === " " || event.key === "Enter") { event.preventDefault(); toggle(); }
      });
    }
  }

  // Tables in closed sections have no width yet.
  const mark = () => {
    for (const box of document.querySelectorAll("div.scroll")) box.classList.toggle("more", box.scrollWidth > box.clientWidth);
  };
  mark();
  addEventListener("resize", mark);
  document.addEventListener("toggle", mark, true);

  const button = document.getElementById("theme");
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const label = () => { button.textContent = isDark() ? "Light colours" : "Dark colours"; };
  button.hidden = false;
  button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; label(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
  label();
})();
