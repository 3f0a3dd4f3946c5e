// The table of trials, newest first. The document contains only the visible rows.

// Extra rows above and below the visible ones; each is laid out and painted at every scroll step.
const MARGIN = 3;

export class Trials {
  #box; #body; #link; #rows = []; #first = -1; #last = -1; #height = 32; #pending = false;

  constructor(box, link) {
    this.#box = box;
    this.#link = link;
    this.#body = box.querySelector("tbody");
    box.addEventListener("scroll", () => this.#soon(), { passive: true });
    new ResizeObserver(() => this.#soon()).observe(box);
  }

  show(rows) {
    // Keep the visible rows in place while new rows appear above them.
    const added = rows.length - this.#rows.length;
    if (this.#box.scrollTop > this.#height && added > 0) this.#box.scrollTop += added * this.#height;
    this.#rows = rows;
    this.#first = -1;
    this.#draw();
  }

  #soon() {
    if (this.#pending) return;
    this.#pending = true;
    requestAnimationFrame(() => { this.#pending = false; this.#draw(); });
  }

  #draw() {
    const count = this.#rows.length;
    const first = Math.max(0, Math.floor(this.#box.scrollTop / this.#height) - MARGIN);
    const last = Math.min(count, first + Math.ceil(this.#box.clientHeight / this.#height) + 2 * MARGIN);
    if (first === this.#first && last === this.#last) return;
    [this.#first, this.#last] = [first, last];
    const focused = document.activeElement?.dataset?.number;
    const made = [pad(first * this.#height)];
    for (let at = first; at < last; at += 1) made.push(this.#row(this.#rows[count - 1 - at], at));
    made.push(pad((count - last) * this.#height));
    this.#body.replaceChildren(...made);
    this.#body.parentElement.setAttribute("aria-rowcount", count + 1);
    if (focused) this.#body.querySelector(`[data-number="${focused}"]`)?.focus({ preventScroll: true });
    const { offsetHeight } = made[1];
    // The user's font may be larger than the style's.
    if (last > first && offsetHeight && Math.abs(offsetHeight - this.#height) > 0.5) {
      this.#height = offsetHeight;
      this.#first = -1;
      this.#draw();
    }
  }

  #row(row, at) {
    const made = document.createElement("tr");
    made.setAttribute("aria-rowindex", at + 2);
    row.cells.forEach((text, column) => {
      const cell = document.createElement(column === 0 ? "th" : "td");
      if (column === 0) {
        const link = document.createElement("a");
        link.href = `${this.#link}${row.number}`;
        link.dataset.number = row.number;
        link.textContent = text;
        cell.scope = "row";
        cell.append(link);
      } else {
        cell.textContent = text;
        if (text.length > 12) cell.title = text;
      }
      made.append(cell);
    });
    return made;
  }
}

function pad(height) {
  const row = document.createElement("tr");
  row.className = "pad";
  row.setAttribute("aria-hidden", "true");
  const cell = document.createElement("td");
  cell.style.height = `${height}px`;
  row.append(cell);
  return row;
}
