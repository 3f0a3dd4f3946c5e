// Common to all live pages: receive the server's events while the page is visible, and show errors.

// Follows a stream of events. A hidden page closes its stream, so that its connection does not keep
// other pages of the browser waiting.
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
      // After some error responses, browsers do not reconnect by themselves.
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

// Replaces a part of the page by the server's HTML, in which all values are escaped.
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
