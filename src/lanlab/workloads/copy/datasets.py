"""Datasets by name or by a short description, from which the same files can be generated again."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from lanlab.errors import UnknownName, UsageError
from lanlab.messages import FileGroup, Spec
from lanlab.units import format_size, parse_size_bytes

MOST_FILES = 100_000
DIRECTORY = "dir:"

Group = dict[str, int | None]


def _group(count: int, least: int, most: int, total: int | None = None) -> Group:
    return {"count": count, "least_bytes": least, "most_bytes": most, "total_bytes": total}


#: Description and files by name. Schomer and Claason publish the number of files and their total
#: size, but not the size of each: their 198 are drawn between 10 kB and 40 MB.
NAMED: Mapping[str, tuple[str, tuple[Group, ...]]] = {
    "schomer-large": (
        "1 file of 623 MB (Schomer and Claason, 2001)",
        (_group(1, 623_000_000, 623_000_000),),
    ),
    "schomer-many": (
        "198 files, 472 MB together (Schomer and Claason, 2001)",
        (_group(198, 10_000, 40_000_000, 472_000_000),),
    ),
    "brutman-small": ("1 file of 260,163 B (Brutman)", (_group(1, 260_163, 260_163),)),
    "brutman-medium": ("1 file of 1,376,275 B (Brutman)", (_group(1, 1_376_275, 1_376_275),)),
    "brutman-large": ("1 file of 3,239,589 B (Brutman)", (_group(1, 3_239_589, 3_239_589),)),
    "many-small": ("1000 files of 6 kB", (_group(1000, 6_000, 6_000),)),
    "mixed": (
        "500 files from 1 kB to 16 MB, 256 MB together (each doubling as likely)",
        (_group(500, 1_000, 16_000_000, 256_000_000),),
    ),
}

_PART = re.compile(r"([0-9]{1,12})x([^.=+]+(?:\.[0-9][^.=+]*)?)(?:\.\.([^=+]+))?(?:=([^+]+))?")


def groups(dataset: str) -> tuple[Group, ...]:
    """
    The files of a dataset.

    Args:
        dataset: A name of `NAMED`, or parts joined by `+`: `COUNTxSIZE`, `COUNTxLEAST..MOST`, and
            `=TOTAL` after the latter for an exact sum in bytes.

    Raises:
        UnknownName: The dataset is unknown.
        UsageError: The description is not allowed.

    Examples:
        >>> groups("2x6kB+1x1kB..2MB=5kB")[1]
        {'count': 1, 'least_bytes': 1000, 'most_bytes': 2000000, 'total_bytes': 5000}
    """
    if dataset in NAMED:
        return NAMED[dataset][1]
    if not re.match(r"[0-9]", dataset):
        raise UnknownName("dataset", dataset, NAMED)
    found = []
    for part in dataset.split("+"):
        match = _PART.fullmatch(part)
        if match is None:
            raise UsageError(
                f"dataset: found `{part}`; allowed: a name, or COUNTxSIZE, COUNTxLEAST..MOST=TOTAL",
                hint="write e.g. `1x10GB`, `1000x6kB` or `198x10kB..40MB=472MB`; names: "
                + ", ".join(NAMED),
            )
        count, least = int(match[1]), parse_size_bytes(match[2])
        most = parse_size_bytes(match[3]) if match[3] else least
        found.append(_group(count, least, most, parse_size_bytes(match[4]) if match[4] else None))
    return checked(tuple(found), f"dataset `{dataset}`")


def dataset_text(dataset: str) -> str:
    """
    A dataset in words.

    Examples:
        >>> dataset_text("1x6230kB"), dataset_text("schomer-large")
        ('one file of 6.23 MB', '1 file of 623 MB')
        >>> dataset_text("198x100B..400kB=4720kB")
        '198 files of 100 B to 400 kB, 4.72 MB together'
    """
    if not dataset[:1].isdigit():
        # Without what is in brackets.
        return NAMED[dataset][0].partition(" (")[0] if dataset in NAMED else dataset

    def size(octets: int | None) -> str:
        number, unit = format_size(octets or 0).split()
        return f"{number.rstrip('0').rstrip('.') if '.' in number else number} {unit}"

    said = []
    for group in groups(dataset):
        sizes = " to ".join(dict.fromkeys(size(group[f"{end}_bytes"]) for end in ("least", "most")))
        total = f", {size(group['total_bytes'])} together" if group["total_bytes"] else ""
        count = group["count"]
        said.append(f"{'one file' if count == 1 else f'{count} files'} of {sizes}{total}")
    return " and ".join(said)


def checked(found: tuple[Group, ...], what: str = "dataset") -> tuple[Group, ...]:
    """Check that the engine accepts the groups.

    Raises:
        UsageError: It does not.
    """
    files = sum(group["count"] or 0 for group in found)
    if not 1 <= files <= MOST_FILES:
        raise UsageError(
            f"{what}: found {files} files; allowed: 1 to {MOST_FILES}", hint="write e.g. `1000x6kB`"
        )
    for group in found:
        least, most = group["least_bytes"] or 0, group["most_bytes"] or 0
        if least > most or (least == 0 and most > 0):
            raise UsageError(
                f"{what}: found sizes from {least} to {most}; allowed: the smaller size first",
                hint="write e.g. `198x10kB..40MB=472MB`",
            )
        count, total = group["count"] or 0, group["total_bytes"]
        if total is not None and not count * least <= total <= count * most:
            raise UsageError(
                f"{what}: found {total} bytes in {count} files from {least} to {most} bytes; "
                f"allowed: {count * least} to {count * most} bytes",
                hint="write e.g. `198x10kB..40MB=472MB`",
            )
    return found


def mean_bytes(dataset: str) -> float:
    """Size of a dataset in bytes: exact if its file sizes are not random."""
    octets = 0.0
    for group in groups(dataset):
        middle = ((group["least_bytes"] or 0) + (group["most_bytes"] or 0)) / 2
        total = group["total_bytes"]
        octets += (group["count"] or 0) * middle if total is None else total
    return octets


def mean_file_bytes(dataset: object) -> float | None:
    """Mean size of a dataset's files in bytes; `None` if unknown."""
    if not isinstance(dataset, str) or dataset.startswith(DIRECTORY):
        return None
    try:
        return mean_bytes(dataset) / sum(group["count"] or 0 for group in groups(dataset))
    except UsageError:
        return None


def tree_bytes(directory: str) -> int:
    """Bytes of the readable files in a directory tree, of `MOST_FILES` at most."""
    octets = files = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(OSError):
                facts = Path(folder, name).lstat()
                octets += facts.st_size if stat.S_ISREG(facts.st_mode) else 0
            files += 1
            if files >= MOST_FILES:
                return octets
    return octets


def spec(dataset: str, seed: int, compressible_ratio: float) -> Spec:
    return {
        "seed": seed,
        "groups": [cast("FileGroup", dict(group)) for group in groups(dataset)],
        "compressible_ratio": compressible_ratio,
    }


def key(described: Spec) -> str:
    """Name of the directory that holds a dataset: the same for the same files."""
    text = json.dumps(described, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
