"""
A real Chromium for tests of pages, driven over a pipe by its DevTools protocol
(https://chromedevtools.github.io/devtools-protocol/). No library is needed for that.
"""

import base64
import importlib.util
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from missing import missing

_NAMES = ("chromium", "chromium-browser", "google-chrome")
#: The package that has axe-core in it; nothing else of it is used (`requirements-tests.lock`).
_AXE_PACKAGE = "axe_playwright_python"
_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--remote-debugging-pipe",
)


def chromium() -> str:
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    return found or missing("Chromium is not installed (apt install chromium)")


def axe_script() -> str:
    found = importlib.util.find_spec(_AXE_PACKAGE)
    if found is None or found.origin is None:
        missing("axe-core is not installed (pip install -r requirements-tests.lock)")
    return (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")


class Browser:
    def __init__(self, process: subprocess.Popen[bytes], to: int, back: int) -> None:
        self._process, self._to, self._back = process, to, back
        self._ids = itertools.count(1)
        self._buffer = b""
        self._session: str | None = None
        #: Events of the page, in order.
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Performance"):
            self.call(f"{domain}.enable")

    def call(self, method: str, *, within_s: float = 60, **parameters: Any) -> dict[str, Any]:
        number = next(self._ids)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        deadline_s = time.monotonic() + within_s
        while time.monotonic() < deadline_s:
            for answer in self._read(deadline_s - time.monotonic()):
                if answer.get("id") == number:
                    assert "error" not in answer, (method, answer["error"])
                    result: dict[str, Any] = answer["result"]
                    return result
        raise AssertionError(f"{method}: the browser gave no answer in {within_s} s")

    def _read(self, within_s: float) -> list[dict[str, Any]]:
        ready, _, _ = select.select([self._back], [], [], max(0.0, within_s))
        if not ready:
            return []
        data = os.read(self._back, 1 << 20)
        assert data, "the browser has ended"
        *lines, self._buffer = (self._buffer + data).split(b"\0")
        found = [json.loads(line) for line in lines]
        self.events += [one for one in found if "method" in one]
        return found

    def wait(self, seconds: float) -> None:
        deadline_s = time.monotonic() + seconds
        while (left_s := deadline_s - time.monotonic()) > 0:
            self._read(left_s)

    def evaluate(self, expression: str, within_s: float = 60) -> Any:
        found = self.call(
            "Runtime.evaluate",
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
            within_s=within_s,
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, expression: str, within_s: float = 60) -> None:
        deadline_s = time.monotonic() + within_s
        while time.monotonic() < deadline_s:
            if self.evaluate(f"!!({expression})"):
                return
            self.wait(0.02)
        raise AssertionError(f"not within {within_s} s: {expression}")

    def open(self, url: str) -> None:
        self.call("Page.navigate", url=url)
        self.wait(0.05)
        self.until("document.readyState === 'complete'")

    def key(self, key: str) -> None:
        codes = {"Tab": 9, "Enter": 13, "ArrowLeft": 37, "ArrowRight": 39, "End": 35, " ": 32}
        text = {"Enter": "\r", " ": " "}.get(key)
        facts: dict[str, Any] = {"key": key, "windowsVirtualKeyCode": codes.get(key, 0)}
        if text is not None:
            facts["text"] = text
        self.call("Input.dispatchKeyEvent", type="keyDown", **facts)
        self.call("Input.dispatchKeyEvent", type="keyUp", **facts)

    def look(self, *, width: int = 1280, dark: bool = False, still: bool = False) -> None:
        """How the page is looked at: width in CSS pixels, colours, and motion."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"},
        ]
        self.call("Emulation.setEmulatedMedia", features=features)

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        more = {"captureBeyondViewport": True, "clip": clip} if whole else {}
        shot = self.call("Page.captureScreenshot", **more)
        path.write_bytes(base64.b64decode(shot["data"]))

    def violations(self, script: str) -> list[dict[str, Any]]:
        self.evaluate(f"{script}; 0")
        tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
        options = json.dumps({"runOnly": {"type": "tag", "values": tags}})
        found = self.evaluate(
            f"axe.run(document, {options}).then(r => JSON.stringify(r.violations.map(v => "
            "({id: v.id, help: v.help, nodes: v.nodes.map(n => n.html.slice(0, 200))}))))"
        )
        problems: list[dict[str, Any]] = json.loads(found)
        return problems

    def complaints(self) -> list[str]:
        found = []
        for event in self.events:
            told = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(str(told["exceptionDetails"]))
            elif event["method"] == "Log.entryAdded" and told["entry"]["level"] != "verbose":
                found.append(f"{told['entry']['text']} {told['entry'].get('url', '')}")
            elif event["method"] == "Runtime.consoleAPICalled" and told["type"] != "log":
                found.append(str(told["args"]))
        return found

    def requested(self) -> list[str]:
        """Addresses that pages have asked for, but for those that are data."""
        found = [
            event["params"]["request"]["url"]
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in found if not url.startswith("data:")]


@contextmanager
def browser() -> Iterator[Browser]:
    program = chromium()
    to_read, to_write = os.pipe()
    back_read, back_write = os.pipe()
    with tempfile.TemporaryDirectory(prefix="lanlab-browser-", ignore_cleanup_errors=True) as home:

        def place_pipes() -> None:
            # Chromium reads commands at 3 and writes answers to 4.
            high = [os.dup(end) for end in (to_read, back_write)]
            for end, place in zip(high, (3, 4), strict=True):
                os.dup2(end, place)

        process = subprocess.Popen(
            [program, *_OPTIONS, f"--user-data-dir={home}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(3, 4),
            preexec_fn=place_pipes,
            start_new_session=True,
            env={**os.environ, "HOME": home, "DBUS_SESSION_BUS_ADDRESS": "disabled:"},
        )
        os.close(to_read)
        os.close(back_write)
        try:
            yield Browser(process, to_write, back_read)
        finally:
            os.close(to_write)
            os.close(back_read)
            # It ends when its pipe closes; what does not is ended.
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
