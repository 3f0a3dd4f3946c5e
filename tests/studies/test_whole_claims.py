"""Claims of the papers that were once tested in part, or as more than was said."""

import pytest

from lanlab.studies.load import load_study

#: What a statement must have for its claim to be the paper's whole claim, and what its note says.
WHOLE = [
    ("milanovic-srbljic", "f4", ["'min': 0.5"], "no numbers for system calls"),
    ("milanovic-srbljic", "f6", ["'received_ratio'", "'min': 4.0"], "no limit"),
    ("milanovic-srbljic", "f11", ["'max': 2.0", "'min': 1.8"], "almost"),
    (
        "milanovic-srbljic",
        "f12",
        ["'for_each': ['transport']", "'486dx2'", "'pentium'"],
        "for UDP and for TCP",
    ),
    (
        "milanovic-srbljic",
        "f15",
        ["'os': 'nt4'", "'pentium'", "'486dx2'"],
        "all three ran Windows NT",
    ),
    ("poo-tan", "f9", ["'margin_ratio': 0.25", "'form': 'count'"], "comparable"),
    ("poo-tan", "f10", ["'peak_then_decline'", "'stations': 14"], "ours"),
    ("poo-tan", "f23", ["'less'", "'trend'"], "frequent"),
    ("poo-tan", "f27", ["'bus-100'", "'broadband-2'"], "ours"),
    ("poo-tan", "f28", ["'min': 0.5", "'3com-3server'", "'ibm-pc-network'"], "half"),
    ("schomer-claason", "f9", ["'min': 2.1"], "well over"),
    ("schomer-claason", "f12", ["'no_trend'"], "chosen after the trials were seen"),
    ("manford-kolahi", "f4", ["'min': -21500000.0", "'min': 20500000.0"], "in either direction"),
    ("manford-kolahi", "f7", ["'min': -10800000.0", "'min': 9800000.0"], "in either direction"),
    ("manford-kolahi", "f13", ["'extreme'", "'at_level': 384"], ""),
    ("brutman-mtcp", "f1", ["'less'"], "our inference"),
]


@pytest.mark.parametrize(("study", "name", "parts", "note"), WHOLE)
def test_compound_claims_are_tested_completely(
    study: str, name: str, parts: list[str], note: str
) -> None:
    [finding] = [one for one in load_study(study).findings if one.id == name]
    statement = str(finding.statement.model_dump(mode="json", exclude_none=True))
    for part in parts:
        assert part in statement, statement
    assert note in (finding.note or "")
