"""The answers for each path of the page."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import parse_qs

from lanlab.analysis.trials.run_data import RunData
from lanlab.errors import LabError, UnknownName, UsageError
from lanlab.frozen import dataclass
from lanlab.report.page.rendering import rendered
from lanlab.report.runs.stored import is_killed, other_kind_in, others_in, trials_for_page
from lanlab.store import RunRecord, open_store
from lanlab.store.database import Store
from lanlab.store.shape import reading_records
from lanlab.web import pages
from lanlab.web.run_state import COLUMNS, RunState
from lanlab.web.watch import as_errors

#: Limit of runs to compare; more columns are unreadable.
_MOST_COMPARED = 6


@dataclass(frozen=True)
class Answer:
    status: int
    kind: str
    body: bytes
    policy: str = pages.POLICY


class Answers:
    """Pages of a store. Each call opens the store again, so any thread may call it."""

    def __init__(self, where: str | None, token: str) -> None:
        self._where, self._home = where, f"/{token}/"

    def answer(self, parts: list[str], query: str) -> Answer:
        try:
            with as_errors("this page"):
                match parts:
                    case [""]:
                        return self._page(200, "list", title="Runs")
                    case ["assets", name] if name in pages.FILES:
                        path, kind = pages.FILES[name]
                        return Answer(200, f"{kind}; charset=utf-8", path.read_bytes())
                    case ["compare"]:
                        return self._compare(_runs_in(query))
                    case ["run", name]:
                        return self._run(name)
                    case ["run", name, "report"]:
                        return self._report(name)
                    case ["run", name, "trial", number] if number.isascii() and number.isdigit():
                        return self._trial(name, int(number[:18]))
        except UnknownName as error:
            return self.trouble(404, error.message, error.hint)
        except UsageError as error:
            return self.trouble(400, error.message, error.hint)
        except LabError as error:
            return self.trouble(500, error.message, error.hint)
        return self.trouble(404, "there is no such page", "the list of runs leads to all pages")

    def trouble(self, status: int, message: str, hint: str | None = None) -> Answer:
        """A page with an error message and a link to the list."""
        return self._page(status, "problem", title="Problem", message=message, hint=hint or "")

    def _page(self, status: int, template: str, **values: object) -> Answer:
        text = pages.rendered(template, home=self._home, **values)
        return Answer(status, "text/html; charset=utf-8", text.encode())

    def _run(self, name: str) -> Answer:
        with open_store(self._where) as store:
            run = store.run(name)
        with reading_records(run.id):
            state = RunState(run)
            return self._page(
                200,
                "run",
                title=state.study.title,
                run=run,
                study=state.study,
                columns=COLUMNS,
                charts=state.charts(),
            )

    def _trial(self, name: str, number: int) -> Answer:
        from lanlab.web.trial_page import trial_on_page

        with open_store(self._where) as store:
            run = store.run(name)
            found = store.trials(run.id, number, 1)
            if not found or found[0].number != number:
                raise UnknownName("trial", str(number), [])
            with reading_records(run.id):
                shown = trial_on_page(run, found[0], store)
        title = f"Trial {number}"
        return self._page(200, "trial", title=title, run=run, trial=shown)

    def _report(self, name: str) -> Answer:
        from lanlab.report.runs.run_page import run_on_page

        with open_store(self._where) as store:
            run = store.run(name)
            if found := self._measures(store, [run]):
                return found
            trials, others = trials_for_page(store, run.id), other_kind_in(store, run)
        with reading_records(run.id):
            page = run_on_page(RunData(run, trials), "run", others)
            text = rendered("report", pages=[page], home=self._home)
        return _of_report(text)

    def _compare(self, names: list[str]) -> Answer:
        from lanlab.report.comparison.compared import between_runs

        if not 2 <= len(set(names)) <= _MOST_COMPARED:
            return self.trouble(
                400,
                f"found {len(set(names))} runs to compare; allowed: 2 to {_MOST_COMPARED}",
                "tick runs of one study in the list; the oldest is the baseline",
            )
        with open_store(self._where) as store:
            wanted = {store.run(name).id for name in names}
            # Oldest first, as the store returns them; the first is the baseline.
            runs = [run for run in store.runs() if run.id in wanted]
            if found := self._measures(store, runs):
                return found
            read = [(run, store.trials(run.id)) for run in runs]
            others = others_in(store, runs)
        found_ = between_runs(read, 0, None, None, others)
        with reading_records(found_.run_ids):
            return _of_report(found_.page(self._home))

    def _measures(self, store: Store, runs: list[RunRecord]) -> Answer | None:
        """Refuse a request that needs seconds of processor time while a run is executing."""
        busy = [run.id for run in runs if run.status == "running" and not is_killed(run, store)]
        if not busy:
            return None
        return self.trouble(
            409,
            f"run {busy[0]} is still measuring, and drawing figures would disturb it",
            "come back when it has ended; its own page shows it live",
        )


def _runs_in(query: str) -> list[str]:
    try:
        return parse_qs(query, max_num_fields=100).get("run", [])
    except ValueError:
        raise UsageError("the address has too much in it") from None


@lru_cache(64)
def refused(status: int, sentence: str) -> Answer:
    text = pages.rendered("problem", home="", title="Refused", message=sentence, hint="")
    return Answer(status, "text/html; charset=utf-8", text.encode())


def _of_report(text: str) -> Answer:
    kind = "text/html; charset=utf-8"
    return Answer(200, kind, text.encode(), pages.policy_of_report(text))
