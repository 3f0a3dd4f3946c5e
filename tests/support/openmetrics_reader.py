"""
Reads OpenMetrics text as the specification 1.0 has it, as far as gauges go, and refuses the rest.

Written from its ABNF and its rules, not from what lanlab writes.
"""

from __future__ import annotations

import re

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')
_SAMPLE = re.compile(rf"({_NAME})(?:\{{(.*)\}})? (\S+)")
_DESCRIPTOR = re.compile(rf"# (TYPE|UNIT|HELP) ({_NAME}) (.*)")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def read_openmetrics(text: str) -> Samples:
    """
    Every sample by name and labels.

    Raises:
        AssertionError: The text is not as the specification has it.
    """
    assert text.endswith("\n"), "every line ends with a line feed"
    assert "\r" not in text
    *lines, last = text[:-1].split("\n")
    assert last == "# EOF", "the text ends with `# EOF`"
    families: dict[str, dict[str, str]] = {}
    samples: Samples = {}
    current = ""
    for line in lines:
        if line.startswith("#"):
            found = _DESCRIPTOR.fullmatch(line)
            assert found, f"no other comments are allowed: {line}"
            what, name, value = found.groups()
            if name != current:
                assert name not in families, f"{name} is not in one piece"
                families[name], current = {}, name
            assert what not in families[name], f"{what} of {name} stands twice"
            families[name][what] = value
            if what == "UNIT":
                assert name.endswith(f"_{value}"), f"{name} must end with its unit {value}"
            if what == "TYPE":
                assert value == "gauge", value
            continue
        found = _SAMPLE.fullmatch(line)
        assert found, line
        name, inner, value = found.groups()
        assert name == current, f"{name} stands among samples of {current}"
        labels = _labels(inner or "")
        key = (name, frozenset(labels.items()))
        assert key not in samples, f"{key} stands twice"
        assert _NUMBER.fullmatch(value), value
        samples[key] = float(value)
    return samples


def _labels(inner: str) -> dict[str, str]:
    labels: dict[str, str] = {}
    place = 0
    while place < len(inner):
        found = _LABEL.match(inner, place)
        assert found, inner[place:]
        assert found[1] not in labels, f"label {found[1]} stands twice"
        labels[found[1]] = re.sub(r"\\(.)", lambda one: {"n": "\n"}.get(one[1], one[1]), found[2])
        place = found.end()
        assert place == len(inner) or inner[place] == ",", inner[place:]
        place += 1
    return labels
