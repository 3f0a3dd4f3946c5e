"""From the trials of `copy_clients.py` to Markdown: medians, ratios paired by block, intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from peer_tables import median, median_interval


@dataclass(frozen=True)
class Trial:
    """One copy that ended well."""

    block: int
    service: str
    dataset: str
    direction: str
    label: str
    octets: int
    files: int
    elapsed_s: float

    @property
    def streams(self) -> str:
        """Files at once."""
        return self.label.rpartition(" ")[2]


#: Behind the name of a service: the server is lanlab's.
OWN = ", own"


def tables(trials: Sequence[Trial]) -> Iterator[str]:
    """Lines of Markdown: ratios of lanlab to each client, of servers, then all medians."""
    yield "\nGoodput of lanlab to that of each client with as many files at once: the median of the"
    yield "blocks' ratios, with its interval of at least 95 %.\n"
    yield "| service | files | way | at once | client | lanlab / client |"
    yield "|---|---|---|---|---|---|"
    cells = dict.fromkeys((t.service, t.dataset, t.direction, t.streams) for t in trials)
    for cell in cells:
        here = [t for t in trials if (t.service, t.dataset, t.direction, t.streams) == cell]
        own = {t.block: t.elapsed_s for t in here if t.label.startswith("lanlab ")}
        for label in dict.fromkeys(t.label for t in here if not t.label.startswith("lanlab ")):
            ratios = [
                t.elapsed_s / own[t.block] for t in here if t.label == label and t.block in own
            ]
            client = label.rpartition(" ")[0]
            shown = _shown(ratios, 3) if ratios else "-"
            yield f"| {' | '.join(cell)} | {client} | {shown} |"
    yield from _servers(trials)
    yield "\n| service | files | way | who | runs | MB/s | files/s |\n|---|---|---|---|---|---|---|"
    for service, dataset, direction in dict.fromkeys(cell[:3] for cell in cells):
        here = [
            t
            for t in trials
            if (t.service, t.dataset, t.direction) == (service, dataset, direction)
        ]
        for label in sorted(dict.fromkeys(t.label for t in here)):
            of_label = [t for t in here if t.label == label]
            rates = [t.octets / t.elapsed_s / 1e6 for t in of_label]
            files = [t.files / t.elapsed_s for t in of_label]
            figures = f"{_shown(rates, 4)} | {_shown(files, 4)}"
            yield f"| {service} | {dataset} | {direction} | {label} | {len(rates)} | {figures} |"


def _servers(trials: Sequence[Trial]) -> Iterator[str]:
    """The ratios of lanlab's servers to the real ones, where both were measured."""
    owned = {t.service.removesuffix(OWN) for t in trials if t.service.endswith(OWN)}
    both = [t for t in trials if t.service in owned]
    if not both:
        return
    yield "\nGoodput of a client with lanlab's own server to that with the real one, likewise.\n"
    yield "| service | files | way | client | own / real |\n|---|---|---|---|---|"
    elapsed_s = {(t.service, t.dataset, t.direction, t.label, t.block): t.elapsed_s for t in trials}
    for cell in dict.fromkeys((t.service, t.dataset, t.direction, t.label) for t in both):
        pairs = [
            (elapsed_s[*cell, block], elapsed_s[cell[0] + OWN, *cell[1:], block])
            for block in sorted({t.block for t in both})
            if (*cell, block) in elapsed_s and (cell[0] + OWN, *cell[1:], block) in elapsed_s
        ]
        ratios = [real / own for real, own in pairs]
        yield f"| {' | '.join(cell)} | {_shown(ratios, 3) if ratios else '-'} |"


def _shown(values: Sequence[float], digits: int) -> str:
    """`median (low … high)`; of fewer than six values without an interval."""
    interval = median_interval(values)
    middle = f"{median(values):.{digits}g}"
    if interval is None:
        return middle
    return f"{middle} ({interval[0]:.{digits}g} … {interval[1]:.{digits}g})"
