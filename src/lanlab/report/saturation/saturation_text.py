"""The results of a search, as a table and in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lanlab.analysis.saturation.capacity import Load
from lanlab.analysis.saturation.search import GoalFound, Saturation, saturations
from lanlab.analysis.trials.attempts import counting
from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.number_text import number, percent, plain, with_interval
from lanlab.figures.wording import Quantity, quantity
from lanlab.plan.random_loss import RandomLoss
from lanlab.report.document.table import Cell, Column, Table, cell
from lanlab.store import Level
from lanlab.studies.model import Study


def saturation_sentence(study: Study, found: Saturation) -> str:
    """The highest load that meets each goal, with its 95 % interval.

    Goals met up to the same load are reported once: without losses, the 0.1 % goal is met too.
    """
    if not found.goals:
        return (
            f"{study.titles[found.experiment]}: the end of the search is not known, because "
            "another version of lanlab planned its trials. The trials are saved."
        )
    shown = quantity(study, found.factor)
    random = [goal for goal in found.goals if goal.verdict == "random_loss"]
    groups: list[list[GoalFound]] = []
    for goal in found.goals:
        alike = groups[-1][0] if groups else None
        if alike and _end(alike) == _end(goal):
            groups[-1].append(goal)
        elif goal not in random:
            groups.append([goal])
    said = [_goals(group, shown, found.limit, study.titles) for group in groups]
    if random and found.random_loss is not None:
        said.insert(0, _random(random, found.random_loss, found.capacity, shown))
    sent = messages_text(found.steps[0].parameters)
    text = f"With {sent}, {'; '.join(said)}."
    if found.is_of_host:
        text = _at_least(found, shown, sent)
    if found.is_gradual:
        text += (
            " Loss rises gradually and begins far below the highest received rate, or capacity "
            "drifts: run it again to see which."
        )
    if found.drift is not None:
        text += (
            f" Capacity drifts or hangs together: each trial is like the one before (correlation "
            f"{number(found.drift.correlation, 2)}), so that the 95 % interval is made longer. Run "
            "it again, several times, and compare runs."
        )
    limit = found.sender_limit
    if limit is not None:
        text += f" The sender reached at most {shown.text(limit)}"
        limited = any(goal.verdict == "sender_limited" for goal in found.goals)
        text += "; the network may carry more." if limited else "."
    return text + _whose_losses(found, has_random=bool(random))


def _at_least(found: Saturation, shown: Quantity, sent: str) -> str:
    why = f"the host was disturbed in {_disturbed_text(found)}"
    met = [(load, goal) for goal in found.goals if (load := highest(goal)) is not None]
    if not met:
        return (
            f"What the network carries of {sent} is not known: {why}. Stop other programs and "
            "search again."
        )
    load, goal = met[0]
    lost = "without loss" if not goal.result.loss_ratio else ""
    lost = lost or f"with at most {goal_text(goal.result.loss_ratio)} lost"
    return (
        f"The network carries at least {shown.text(load)} of {sent} {lost}"
        f"{_share(load, found.limit)}; an exact limit needs a quieter machine: {why}."
    )


def _share(load: float | None, limit: float | None) -> str:
    if load is None or not limit:
        return ""
    # If losses are allowed, the load can exceed what the link delivers.
    return f" ({percent(min(load / limit, 1.0))} of what this Ethernet can carry)"


def _whose_losses(found: Saturation, *, has_random: bool) -> str:
    said = ""
    if found.disturbed and not found.is_of_host:
        said += f" The host was disturbed in {_disturbed_text(found)}."
    if has_random and found.is_lossless_link:
        said += " This link loses no frame by itself: the hosts lost the messages."
    return said


def _disturbed_text(found: Saturation) -> str:
    return (
        f"{found.disturbed} of the {len(counting(found.steps))} trials of the search: their losses "
        f"may be of the host, not of the network"
    )


def messages_text(parameters: Mapping[str, Level]) -> str:
    transport = str(parameters.get("transport", "")).upper()
    size = parameters.get("message_size_bytes")
    what = "writes" if transport == "TCP" else "messages"
    return f"{size}-byte {transport} {what}" if size else f"{transport} {what}"


def _end(goal: GoalFound) -> tuple[object, ...]:
    if goal.sweep is not None:
        return goal.verdict, goal.sweep.experiment, goal.sweep.load
    return goal.verdict, goal.load, goal.result.lower, goal.result.upper


def _loss_text(ratio: float) -> str:
    return f"{number(100 * ratio, 2)} %"


def _load_text(load: Load, shown: Quantity) -> str:
    if load.low is not None and load.high is not None:
        ends = shown.shown(load.low), shown.shown(load.high)
        return with_interval(shown.shown(load.median), ends, shown.unit)
    low = "0" if load.low is None else number(shown.shown(load.low))
    high = "∞" if load.high is None else number(shown.shown(load.high))
    return f"{number(shown.shown(load.median))} ({low} … {high}) {shown.unit}"


def _random(
    goals: Sequence[GoalFound], loss: RandomLoss, capacity: Load | None, shown: Quantity
) -> str:
    low, high = _loss_text(loss.low), _loss_text(loss.high)
    text = f"there is random loss of {_loss_text(loss.ratio)} ({low} … {high}) at every load: "
    wanted = [goal_text(goal.result.loss_ratio) for goal in goals]
    wanted = [f"at most {lost}" if lost != "nothing" else lost for lost in wanted]
    is_sure = all(goal.result.loss_ratio < loss.low for goal in goals)
    known = "no rate meets" if is_sure else "it is not known whether any rate meets"
    text += f"{known} the goal that {' or '.join(wanted)} is lost"
    if capacity is not None:
        text += f"; capacity, where loss starts to rise with load, {_load_text(capacity, shown)}"
    return text


def _goals(
    goals: Sequence[GoalFound], shown: Quantity, limit: float | None, titles: Mapping[str, str]
) -> str:
    first, last = goals[0].result, goals[-1].result
    verdict, load = goals[0].verdict, goals[0].load
    lost = goal_text(first.loss_ratio)
    lost = f"at most {lost}" if first.loss_ratio else lost
    median = highest(goals[0])
    share = _share(median, limit)
    sweep = goals[0].sweep
    if sweep is not None:
        return (
            f"{lost} was lost up to at least {shown.text(sweep.load)}{share}, in every trial of "
            f"the sweep {titles.get(sweep.experiment, sweep.experiment)}; the search lost messages "
            f"at lower speeds, and its estimate is left out"
        )
    more = f"more than {goal_text(last.loss_ratio)}" if last.loss_ratio else "something"
    if verdict == "not_steady" and load is not None:
        return (
            f"the rate up to which {lost} was lost is not steady: it varies by "
            f"{percent(load.spread_ratio, 2)} from trial to trial, median "
            f"{_load_text(load, shown)}{share}"
        )
    if load is not None:
        return f"{lost} was lost up to {_load_text(load, shown)}{share}"
    if verdict == "found" and first.lower is not None and last.upper is not None:
        text = f"{lost} was lost up to {shown.text(first.lower)}{share}"
        return text if first is last else f"{text}, and {more} at {shown.text(last.upper)}"
    if verdict == "at_least_high" and first.lower is not None:
        return f"{lost} was lost at every speed tried, up to {shown.text(first.lower)}{share}"
    if verdict == "sender_limited" and first.lower is not None:
        return f"{lost} was lost up to {shown.text(first.lower)}{share}, sender limited"
    if verdict == "below_low" and last.upper is not None:
        return f"{more} was lost already at {shown.text(last.upper)}, the lowest speed tried"
    return f"no speed was found up to which {lost} is lost"


ENDS = {
    "found": "found",
    "not_steady": "not steady",
    "random_loss": "random loss",
    "at_least_high": "beyond the range",
    "sender_limited": "sender limited",
    "below_low": "below the range",
    "undecided": "undecided",
    "refuted": "refuted by a sweep",
}


def saturation_table(data: RunData) -> Table:
    columns = (
        Column("experiment", "experiment", "search", is_number=False),
        Column("unit", is_number=False),
        Column("lost at most (ratio)", "lost at most", "lost at most"),
        Column("result", "result", "result", is_number=False),
        Column("median load", "highest rate", "highest rate"),
        Column("interval low", "from", "from"),
        Column("interval high", "to", "to"),
        Column("spread (ratio)", "varies by", "varies by"),
        Column("random loss (ratio)", "random loss", "random loss"),
        *(Column(n, n) for n in ("lower bound", "upper bound", "arrives there", "limit")),
        Column("share of limit (ratio)", "of limit", "of limit"),
        Column("highest load offered", "sender offered", ""),
        Column("confirmed mean (ratio)", "seen there", ""),
        *(Column(name, name, name) for name in ("trials", "disturbed")),
        Column("drift (correlation)"),
    )
    every = data.once(saturations)
    # If there is only one search, its title is printed once, above its rows.
    only = data.study.titles.get(every[0].experiment, "") if len(every) == 1 else ""
    rows = []
    for found in every:
        title = "" if only else data.study.titles.get(found.experiment, found.experiment)
        shown = quantity(data.study, found.factor)
        rows += [_row(found, goal, title, shown) for goal in found.goals]
    said = f"{only[:1].upper()}{only[1:]}" or "Saturation, found by search"
    return Table("saturation", said, columns, tuple(rows))


def goal_text(loss_ratio: float) -> str:
    """
    Format a loss goal.

    Examples:
        >>> goal_text(0), goal_text(0.001)
        ('nothing', '0.1 %')
    """
    return f"{plain(100 * loss_ratio)} %" if loss_ratio else "nothing"


def highest(goal: GoalFound) -> float | None:
    """The highest load at which a goal is met, as far as known."""
    if goal.load is not None:
        return goal.load.median
    if goal.sweep is not None:
        return goal.sweep.load
    return None if goal.verdict == "random_loss" else goal.result.lower


def _row(found: Saturation, goal: GoalFound, title: str, shown: Quantity) -> tuple[Cell, ...]:
    result, random = goal.result, found.random_loss
    median, met = highest(goal), None if goal.sweep is None else goal.sweep.load
    share = min(median / found.limit, 1.0) if median is not None and found.limit else None
    seen = None if goal.confirmed is None else goal.confirmed.mean
    end = ENDS[goal.verdict] if found.drift is None else f"{ENDS[goal.verdict]}, drifts"
    if found.is_of_host:
        end = f"{'not known' if median is None else 'at least'}: host disturbed"
    low, high = (met, None) if goal.load is None else (goal.load.low, goal.load.high)
    # The search's own result, unless a later trial contradicts it.
    own = (result.lower, result.upper, result.throughput) if met is None else (None,) * 3
    return (
        Cell(found.experiment, title),
        Cell(shown.si_unit, ""),
        Cell(result.loss_ratio, goal_text(result.loss_ratio)),
        Cell(goal.verdict, end),
        *(cell(load, shown.text) for load in (median, low, high)),
        cell(None if goal.load is None else goal.load.spread_ratio, percent),
        cell(None if random is None else random.ratio, _loss_text),
        *(cell(load, shown.text) for load in (*own, found.limit)),
        cell(share, percent),
        cell(found.sender_limit, shown.text),
        cell(seen, lambda mean: percent(mean, 4)),
        cell(len(found.steps)),
        Cell(found.disturbed, str(found.disturbed or "")),
        Cell(None if found.drift is None else found.drift.correlation, ""),
    )
