// Results of trials in order, drawn on a canvas. Thousands of points take one drawing, and pointing
// at a point redraws only that point.

const LEFT = 56, RIGHT = 12, TOP = 12, BOTTOM = 28;
const COUNTS = 0, LEFT_OUT = 1, DISTURBED = 2, FAILED = 3;
// Points farther from the pointer, in pixels, are not selected.
const REACH = 40;

export class Chart {
  #box; #base; #over; #open; #rows = []; #top = 1; #low = 0; #high = 1; #at = -1; #colours = {};

  constructor(box, open) {
    this.#box = box;
    this.#open = open;
    [this.#base, this.#over] = box.querySelectorAll("canvas");
    new ResizeObserver(() => this.#draw()).observe(box);
    const again = () => this.#draw();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    new MutationObserver(again).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    box.addEventListener("pointermove", (event) => this.#point(event));
    box.addEventListener("pointerdown", (event) => this.#point(event));
    box.addEventListener("pointerleave", () => this.#mark(-1));
    box.addEventListener("click", (event) => { this.#point(event); if (event.detail > 1) this.#go(); });
    box.addEventListener("blur", () => this.#mark(-1));
    box.addEventListener("keydown", (event) => this.#key(event));
  }

  show(rows) {
    const number = this.#rows[this.#at]?.number;
    this.#rows = rows;
    this.#draw();
    if (number !== undefined) this.#mark(rows.findIndex((row) => row.number === number));
  }

  #draw() {
    const { clientWidth: width, clientHeight: height } = this.#box;
    if (!width || !height) return;
    const style = getComputedStyle(document.documentElement);
    for (const name of ["ink", "muted", "grid", "page", "link", "series-0", "series-1"]) this.#colours[name] = style.getPropertyValue(`--${name}`).trim();
    for (const canvas of [this.#base, this.#over]) {
      canvas.width = width * devicePixelRatio;
      canvas.height = height * devicePixelRatio;
      canvas.getContext("2d").setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    }
    let top = 0;
    for (const { value } of this.#rows) if (value !== null && value > top) top = value;
    const step = stepOf(top || 1, 4);
    this.#top = Math.ceil((top || 1) / step - 1e-9) * step;
    this.#low = this.#rows[0]?.number ?? 0;
    this.#high = Math.max(this.#low + 1, this.#rows.at(-1)?.number ?? 1);
    const pen = this.#base.getContext("2d");
    pen.font = `12px ${style.getPropertyValue("font-family") || "sans-serif"}`;
    this.#axes(pen, width, height, step);
    if (!this.#rows.length) {
      pen.fillStyle = this.#colours.muted;
      pen.textAlign = "center";
      pen.fillText("No trial has ended yet.", width / 2, height / 2);
    }
    for (const mark of [LEFT_OUT, COUNTS, DISTURBED, FAILED]) {
      for (const row of this.#rows) if (row.mark === mark) this.#dot(pen, row, 2.5);
    }
    this.#mark(this.#at);
  }

  #axes(pen, width, height, step) {
    pen.fillStyle = this.#colours.muted;
    pen.strokeStyle = this.#colours.grid;
    pen.lineWidth = 1;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    for (let at = 0; at <= this.#top + step / 2; at += step) {
      const y = Math.round(this.#y(at)) + 0.5;
      pen.beginPath();
      pen.moveTo(LEFT, y);
      pen.lineTo(width - RIGHT, y);
      pen.stroke();
      pen.fillText(at.toLocaleString("en-GB", { maximumFractionDigits: digits, minimumFractionDigits: digits, notation: this.#top >= 1e6 ? "compact" : "standard" }), LEFT - 6, y);
    }
    pen.textBaseline = "top";
    pen.textAlign = "center";
    const along = Math.max(1, stepOf(this.#high - this.#low, width < 500 ? 4 : 8));
    for (let at = Math.ceil(this.#low / along) * along; at <= this.#high; at += along) pen.fillText(at.toLocaleString("en-GB"), this.#x(at), height - BOTTOM + 6);
  }

  #dot(pen, row, size) {
    const x = this.#x(row.number), y = this.#y(row.value ?? 0);
    pen.beginPath();
    if (row.mark === FAILED) {
      const at = row.value === null ? this.#y(0) - 4 : y;
      pen.moveTo(x - size - 1, at - size - 1); pen.lineTo(x + size + 1, at + size + 1);
      pen.moveTo(x + size + 1, at - size - 1); pen.lineTo(x - size - 1, at + size + 1);
    } else if (row.value === null) {
      return;
    } else if (row.mark === DISTURBED) {
      pen.moveTo(x, y - size - 2); pen.lineTo(x + size + 2, y); pen.lineTo(x, y + size + 2); pen.lineTo(x - size - 2, y); pen.closePath();
    } else {
      pen.arc(x, y, size, 0, 2 * Math.PI);
    }
    if (row.mark === COUNTS) {
      pen.fillStyle = this.#colours["series-0"];
      pen.fill();
    } else {
      pen.lineWidth = 1.5;
      pen.strokeStyle = row.mark === LEFT_OUT ? this.#colours.muted : this.#colours["series-1"];
      pen.stroke();
    }
  }

  #x(number) { return LEFT + 6 + ((number - this.#low) / (this.#high - this.#low)) * (this.#box.clientWidth - LEFT - RIGHT - 12); }

  #y(value) { return this.#box.clientHeight - BOTTOM - (value / this.#top) * (this.#box.clientHeight - TOP - BOTTOM); }

  #point(event) {
    const box = this.#box.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    let best = -1, nearest = REACH * REACH;
    // Trials are in order, so only those near the pointer are examined.
    let low = 0, high = this.#rows.length;
    while (low < high) { const middle = (low + high) >> 1; if (this.#x(this.#rows[middle].number) < x - REACH) low = middle + 1; else high = middle; }
    for (let at = low; at < this.#rows.length; at += 1) {
      const dx = this.#x(this.#rows[at].number) - x;
      if (dx > REACH) break;
      const dy = this.#y(this.#rows[at].value ?? 0) - y;
      if (dx * dx + dy * dy < nearest) { nearest = dx * dx + dy * dy; best = at; }
    }
    this.#mark(best);
  }

  #key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity }[event.key];
    if (step !== undefined && this.#rows.length) {
      event.preventDefault();
      const from = this.#at < 0 ? (step < 0 ? this.#rows.length : -1) : this.#at;
      this.#mark(Math.max(0, Math.min(this.#rows.length - 1, from + step)));
    } else if (event.key === "Enter") {
      this.#go();
    } else if (event.key === "Escape") {
      this.#mark(-1);
    }
  }

  #go() { if (this.#at >= 0) this.#open(this.#rows[this.#at].number); }

  #mark(at) {
    const pen = this.#over.getContext("2d");
    pen.clearRect(0, 0, this.#box.clientWidth, this.#box.clientHeight);
    const tip = document.getElementById("tip");
    const row = this.#rows[at];
    this.#at = row ? at : -1;
    if (!row) { tip.hidden = true; return; }
    const x = this.#x(row.number), y = this.#y(row.value ?? 0);
    pen.strokeStyle = this.#colours.link;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(x, y, 8, 0, 2 * Math.PI);
    pen.stroke();
    const [number, condition, result, disturbed, , status, , , , , error] = row.cells;
    tip.textContent = [`trial ${number}`, condition, result, disturbed && `disturbed by ${disturbed}`, status === "done" ? "" : `${status}: ${error}`].filter(Boolean).join("; ");
    tip.hidden = false;
    const box = this.#box.getBoundingClientRect();
    const left = box.left + x - tip.offsetWidth / 2;
    const most = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(left, most)) + scrollX}px`;
    const above = box.top + y - tip.offsetHeight - 12;
    tip.style.top = `${(above > 0 ? above : box.top + y + 14) + scrollY}px`;
  }
}

// A round step (1, 2 or 5 times a power of ten) that gives about the requested number of parts.
function stepOf(length, parts) {
  const rough = length / parts;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * (rough / power >= 5 ? 5 : rough / power >= 2 ? 2 : 1);
}
