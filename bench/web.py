"""
Measure the live page in a real Chromium, and print Markdown for bench/results/web.md.

    .venv/bin/python bench/web.py > web.md

Makes a store of 10,000 trials (a real one of `lanlab stream`, repeated with made-up results), has
`lanlab web` show it, opens its page, and commits further trials as a run would. It takes Chromium,
and for the row of axe-core `requirements-tests.lock`. Takes about two minutes.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from lanlab.plan.plan import Plan, PlannedTrial
from lanlab.store import Lease, RunRecord, TrialRecord, open_store
from lanlab.studies.load import load_study

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from browser import Browser, axe_script, browser

COMMAND = str(Path(sysconfig.get_path("scripts")) / "lanlab")
STUDY = """
schema = 1
id = "many"
title = "Many trials"
question = "Does the page stay quick?"

[[experiment]]
id = "rates"
title = "Messages of every size at every rate"
workload = "stream"
metrics = ["goodput_bps"]
[experiment.factors]
message_size_bytes = [64, 128, 512, 1408]
rate_bps = ["1M", "2M", "5M", "8M", "10M"]

[scale.quick]
trials = {{ min = {blocks}, max = {blocks} }}
parameters = {{ time_s = 0.3, warmup_s = 0 }}
"""
CONDITIONS = 20
#: Trials that are committed while the page is open.
LIVE = 25


#: A run, what commits its next trial, and what claims it for this process.
Made = tuple[RunRecord, Callable[[], None], Callable[[], Lease]]


@contextmanager
def run_of(folder: Path, trials: int) -> Iterator[Made]:
    """A run of that many trials that is not executed yet."""
    store = str(folder / "store.sqlite")
    subprocess.run(
        [COMMAND, "stream", "--testbed", "loopback", "--time", "0.3", "--store", store],
        check=True,
        capture_output=True,
    )
    file = folder / "study.toml"
    file.write_text(STUDY.format(blocks=-(-(trials + LIVE) // CONDITIONS)))
    study, seed = load_study(str(file)).study, random.Random(7)
    with open_store(store) as records:
        model = records.run("last")
        (measured,) = records.trials(model.id)
        run = replace(
            model,
            id="20261124-120000-many-0001",
            study_id="many",
            study=study.model_dump(mode="json", exclude_none=True),
            scale="quick",
            status="running",
            ended_at=None,
        )
        records.start_run(run).release()
        plan = Plan(study, run.scale, run.seed)

        def commit() -> None:
            planned = plan.next_trial()
            assert planned is not None
            trial = _trial(run, measured, planned, seed)
            records.commit_trial(trial)
            plan.record(trial)

        for _ in range(trials):
            commit()
        yield run, commit, lambda: records.acquire_run(run.id)


def _trial(
    run: RunRecord, measured: TrialRecord, planned: PlannedTrial, seed: random.Random
) -> TrialRecord:
    rate = float(planned.parameters["rate_bps"]) * seed.gauss(0.99, 0.004)
    # No two trials count the same.
    raw = {
        key: varied(part, seed) if key in ("sender", "receiver") else part
        for key, part in measured.raw.items()
    }
    findings = []
    if seed.random() < 0.05 and not planned.repeats:
        told = {"code": "foreign_cpu", "end": "sender", "found": 0.9, "allowed": 0.12}
        findings = [{**told, "repeat_helps": True}]
    raw["pollution"] = {"findings": findings, "unknown": []}
    return replace(
        measured,
        run_id=run.id,
        number=planned.number,
        experiment=planned.experiment,
        factors=dict(planned.factors),
        parameters=dict(planned.parameters),
        block=planned.block,
        purpose=planned.purpose,
        metrics=measured.metrics | {"goodput_bps": rate},
        raw=raw,
    )


def varied(value: Any, seed: random.Random) -> Any:
    """The same with all larger whole numbers changed a little."""
    if isinstance(value, dict):
        return {key: varied(item, seed) for key, item in value.items()}
    if isinstance(value, list):
        return [varied(item, seed) for item in value]
    return value + seed.randrange(100) if type(value) is int and value > 100 else value


@contextmanager
def served(store: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`lanlab web` in a process of its own, and its address."""
    process = subprocess.Popen(
        [COMMAND, "web", "--store", str(store), "--json"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        text = "".join(iter(process.stdout.readline, "}\n")) + "}"
        yield json.loads(text)["url"], process
    finally:
        process.terminate()
        process.wait(timeout=20)


def cpu_s(pid: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def rss_mb(pid: int) -> float:
    """Memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 1e6


PAINTED = (
    "performance.getEntriesByType('paint').find((one) => one.name === 'first-contentful-paint')"
)
#: Calls something with a place from 0 to 1 and waits until the frame is painted, 60 times; gives
#: milliseconds.
FRAMES = """
(async () => {
  const painted = () => new Promise((done) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = done; port2.postMessage(0);
  }));
  const act = %s;
  const times = [];
  for (let i = 0; i < 60; i += 1) {
    await painted();
    const began = performance.now();
    act(i / 60);
    document.body.getBoundingClientRect();
    const worked = performance.now() - began;
    await painted();
    times.push([worked, performance.now() - began]);
  }
  return JSON.stringify(times);
})()
"""
HOVER = """(share) => {
  const box = document.getElementById("chart"), at = box.getBoundingClientRect();
  box.dispatchEvent(new PointerEvent("pointermove", { bubbles: true,
    clientX: at.left + 70 + share * (at.width - 90), clientY: at.top + at.height / 2 }));
}"""
SCROLL = """(share) => {
  const box = document.getElementById("trials");
  box.scrollTop = share * box.scrollHeight;
  box.dispatchEvent(new Event("scroll"));
}"""


def frames(page: Browser, act: str) -> tuple[float, list[float]]:
    """Greatest time of the page's own work, and times until the frame is painted, milliseconds."""
    times = json.loads(page.evaluate(FRAMES % act))
    return max(worked for worked, _ in times), sorted(painted for _, painted in times)


def measure(trials: int) -> list[tuple[str, str, str]]:
    """Rows: what, measured, goal."""
    rows: list[tuple[str, str, str]] = []
    with (
        tempfile.TemporaryDirectory() as name,
        run_of(Path(name), trials) as (run, commit, lease),
        served(Path(name) / "store.sqlite") as (url, process),
        browser() as page,
    ):
        page.look()
        address = f"{url}run/{run.id}"
        # Modules of the server, and the first start of the browser, are paid here.
        page.open(url)
        page.until("document.querySelector('.runs')")
        listed_s = []
        for _ in range(5):
            began_s = time.monotonic()
            page.open(url)
            page.until("document.querySelector('.runs')")
            listed_s.append(time.monotonic() - began_s)
        rows.append(
            (
                f"the list of runs, one of {trials} trials",
                f"{1e3 * statistics.median(listed_s):.0f} ms, at most {1e3 * max(listed_s):.0f} ms",
                "",
            )
        )
        paints = []
        loaded_s = []
        for _ in range(5):
            began_s = time.monotonic()
            page.open(address)
            page.until(f"document.body.dataset.done >= {trials}", within_s=400)
            loaded_s.append(time.monotonic() - began_s)
            page.until(PAINTED)
            paints.append(page.evaluate(f"{PAINTED}.startTime"))
        rows.append(
            (
                "first paint of the run's page",
                f"{statistics.median(paints):.0f} ms, at most {max(paints):.0f} ms (5 times)",
                "≤ 500 ms",
            )
        )
        rows.append(
            (
                f"all {trials} trials in the page",
                f"{loaded_s[0]:.1f} s when the server reads them first, then "
                f"{statistics.median(loaded_s[1:]):.1f} s",
                "",
            )
        )
        page.until("document.body.dataset.results", within_s=300)
        for what, act in (("hover over the figure", HOVER), ("scroll of the table", SCROLL)):
            worked_ms, painted_ms = frames(page, act)
            rows.append(
                (
                    f"{what}, until painted",
                    f"median {statistics.median(painted_ms):.0f} ms, at most {painted_ms[-1]:.0f} "
                    f"ms; own work at most {worked_ms:.1f} ms (60 times)",
                    "≤ 50 ms",
                )
            )
        with lease():
            rows += live(page, process.pid, trials, commit)
            rows.append(opened_late(Path(name) / "store.sqlite", run.id))
        page.call("HeapProfiler.collectGarbage")
        page.wait(0.5)
        heap = next(
            one["value"]
            for one in page.call("Performance.getMetrics")["metrics"]
            if one["name"] == "JSHeapUsedSize"
        )
        page.events.clear()
        page.open(address)
        page.until(f"document.body.dataset.done >= {trials + LIVE}", within_s=120)
        page.until("document.body.dataset.results", within_s=300)
        page.wait(0.5)
        received = sum(
            event["params"]["dataLength"]
            for event in page.events
            if event["method"] == "Network.dataReceived"
        )
        rows.append(
            (
                f"memory of the page with {trials + LIVE} trials",
                f"{heap / 1e6:.1f} MB of JavaScript heap; {received / 1e6:.1f} MB transferred",
                "≤ 30 MB",
            )
        )
        rows.append(("memory of the server", f"{rss_mb(process.pid):.0f} MB resident", ""))
        found = []
        for dark in (False, True):
            page.look(dark=dark)
            page.wait(0.2)
            found += page.violations(axe_script())
        rows.append(("axe-core, light and dark", f"{len(found)} violations", "0"))
        rows.append(("errors and warnings of the console", str(len(page.complaints())), "0"))
        elsewhere = [one for one in page.requested() if not one.startswith(url)]
        rows.append(("requests to elsewhere", str(len(elsewhere)), "0"))
    return rows


def opened_late(store: Path, run_id: str) -> tuple[str, str, str]:
    """How a page fills that is the first to look at a run that measures."""
    with served(store) as (url, process), browser() as page:
        page.look()
        page.open(url)
        page.until("document.querySelector('.runs')")
        before_s = cpu_s(process.pid)
        page.open(f"{url}run/{run_id}")
        page.wait(10)
        done = int(page.evaluate("document.body.dataset.done ?? 0"))
        share = (cpu_s(process.pid) - before_s) / 10
    return (
        "a page that is opened while the run measures, by a new server",
        f"{done} trials shown after 10 s, by {100 * share:.1f} % of a processor",
        "",
    )


def live(
    page: Browser, pid: int, trials: int, commit: Callable[[], None]
) -> list[tuple[str, str, str]]:
    """Commit trials, one a second, and see when the page shows each."""
    page.evaluate(
        """window.seen = {}; new MutationObserver(() => {
          window.seen[document.body.dataset.done] ??= performance.timeOrigin + performance.now();
        }).observe(document.body, { attributeFilter: ["data-done"] }); 0"""
    )
    page.wait(60 / 20)
    before_s, began_s, committed = cpu_s(pid), time.monotonic(), {}
    for number in range(trials + 1, trials + LIVE + 1):
        commit()
        committed[number] = time.time() * 1e3
        # Not in step with the server's looks.
        page.wait(1.0 + 0.1 * random.random())
    page.until(f"document.body.dataset.done >= {trials + LIVE}")
    seen: dict[str, Any] = page.evaluate("window.seen")
    late_ms = sorted(seen[str(number)] - at for number, at in committed.items())
    share = (cpu_s(pid) - before_s) / (time.monotonic() - began_s)
    return [
        (
            "a trial in the page after its commit",
            f"median {statistics.median(late_ms):.0f} ms, at most {late_ms[-1]:.0f} ms "
            f"({LIVE} trials, one a second)",
            "≤ 200 ms",
        ),
        ("the server's use of a processor meanwhile", f"{100 * share:.1f} %", ""),
    ]


def main() -> None:
    """Print the table."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0].strip())
    asked.add_argument("--trials", type=int, default=10_000)
    trials = asked.parse_args().trials
    print("| what | measured | goal |\n|---|---|---|")
    for row in measure(trials):
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
