"""
Judges of the files that lanlab exports, none of them ours: the OpenMetrics parser of Prometheus,
the CSV readers of Python (strict) and of Apache Arrow, a JSON Schema, a Markdown parser.
"""

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow.csv
from markdown_it import MarkdownIt
from prometheus_client.openmetrics.parser import text_string_to_metric_families

_SCHEMA = json.loads(Path(__file__).with_name("run_schema.json").read_text(encoding="utf-8"))

#: Of OpenMetrics: value by name and labels.
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def read_openmetrics(text: str) -> Samples:
    """Every sample by name and labels; a text that a collector would refuse raises ValueError."""
    samples: Samples = {}
    for family in text_string_to_metric_families(text):
        assert family.type == "gauge" and family.documentation, family.name
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in samples, f"{key} stands twice"
            assert math.isfinite(sample.value), f"{key}: {sample.value}"
            samples[key] = sample.value
    return samples


def read_csv(octets: bytes) -> list[dict[str, str]]:
    """The rows of a table with a header, which both readers take, and read alike."""
    text = octets.decode("utf-8")
    assert text.endswith("\r\n"), "lines end as RFC 4180 has it"
    header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert len(set(header)) == len(header) and all(header), f"a name stands twice in {header}"
    assert {len(row) for row in rows} <= {len(header)}, "a row of another length"
    options = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(header, pyarrow.string()))
    table = pyarrow.csv.read_csv(
        io.BytesIO(octets),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=options,
    )
    assert table.column_names == header
    found = [dict(zip(header, row, strict=True)) for row in rows]
    assert [{key: row[key] or "" for key in header} for row in table.to_pylist()] == found
    return found


def read_json(text: str) -> dict[str, Any]:
    """A run, by the schema; neither a key that stands twice nor NaN is JSON (RFC 8259)."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        assert len(found) == len(pairs), f"a key stands twice among {[key for key, _ in pairs]}"
        return found

    def never(word: str) -> None:
        raise AssertionError(f"found {word}")

    answer = json.loads(text, object_pairs_hook=once, parse_constant=never)
    jsonschema.Draft202012Validator(_SCHEMA).validate(answer)
    assert isinstance(answer, dict)
    return answer


def read_markdown(text: str) -> list[list[list[str]]]:
    """The tables of a text, as rows of what a reader sees in their cells."""
    tables: list[list[list[str]]] = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append([])
        elif token.type == "inline" and tables and token.level > 1:
            assert {each.type for each in token.children or ()} <= {"text", "text_special"}
            tables[-1][-1].append("".join(each.content for each in token.children or ()))
    for rows in tables:
        assert len({len(row) for row in rows}) == 1, "a row of another length"
    return tables
