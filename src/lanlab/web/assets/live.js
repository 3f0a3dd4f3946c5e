// What every live page does: receive the server's events while somebody looks, and show trouble.

// Follows a stream of events; while the page is hidden the stream is closed, and no page of the
// browser waits for a connection that a hidden one holds.
export function follow(address, handlers) {
  let source = null;
  const open = () => {
    if (source || document.hidden) return;
    source = new EventSource(address);
    for (const [name, handle] of Object.entries(handlers)) {
      source.addEventListener(name, (event) => {
        trouble("");
        handle(JSON.parse(event.data));
      });
    }
    source.addEventListener("trouble", (event) => {
      const { message, hint } = JSON.parse(event.data);
      trouble(hint ? `${message}: ${hint}` : message);
    });
    source.addEventListener("open", () => { handlers.restarted?.(); trouble(""); });
    source.addEventListener("error", () => {
      trouble("No answer from lanlab web. It may have been ended; this page tries again.");
      // A browser gives up for good after some answers.
      if (source?.readyState === EventSource.CLOSED) { close(); setTimeout(open, 2000); }
    });
  };
  const close = () => { source?.close(); source = null; };
  document.addEventListener("visibilitychange", () => { document.hidden ? close() : open(); });
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
  open();
}

function trouble(text) {
  const place = document.getElementById("trouble");
  if (place.textContent === text) return;
  place.textContent = text;
  place.hidden = !text;
  const waiting = document.getElementById("waiting");
  if (waiting && text) waiting.hidden = true;
}

// Puts a part of the page that the server has made, whose values it has escaped, into its place.
export function place(element, html) {
  const open = new Set([...element.querySelectorAll("details[open][data-key]")].map((one) => one.dataset.key));
  const scrolled = [...element.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
  const focused = element.contains(document.activeElement)
    ? [...element.querySelectorAll("a, summary, input, [tabindex]")].indexOf(document.activeElement) : -1;
  const made = new DOMParser().parseFromString(html, "text/html");
  element.replaceChildren(...made.body.childNodes);
  for (const one of element.querySelectorAll("details[data-key]")) one.open = open.has(one.dataset.key);
  [...element.querySelectorAll(".scroll")].forEach((one, at) => { one.scrollLeft = scrolled[at] ?? 0; });
  if (focused >= 0) [...element.querySelectorAll("a, summary, input, [tabindex]")][focused]?.focus({ preventScroll: true });
}
