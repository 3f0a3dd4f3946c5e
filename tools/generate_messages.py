"""
Make `src/lanlab/engine/schema.json`, `src/lanlab/messages.pyi` and `src/lanlab/systems.json` from
the engine's own JSON Schema.

The Rust types are the only definition of what lanlab and engine say to each other. By the schema
lanlab checks what an engine says; by the stub mypy checks what lanlab does with it. The third has
the rows of the period systems. `--check` changes nothing and fails if a file differs.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src/lanlab/engine/schema.json"
STUB = ROOT / "src/lanlab/messages.pyi"
SYSTEMS = ROOT / "src/lanlab/systems.json"

_Schema = dict[str, Any]
_HEAD = '''"""Made by `tools/generate_messages.py` from `schema.json`; see `messages.py`."""

from typing import Any, Literal, TypedDict
'''
#: Unions of messages, each as one type that has the fields of all kinds.
_WIDE = {"Outcome": "Result", "Reply": "Line"}
#: Kinds that share field names, but not their meaning, with others.
_APART = ("simulated", "heard", "hosts_read")
_WIDTH = 100
_PLAIN = {"integer": "int", "number": "float", "string": "str", "boolean": "bool"}


def generate(engine: str) -> str:
    """The text of the file: a line for each definition, so that a change shows where it is."""
    printed = subprocess.run([engine, "schema"], check=True, capture_output=True, text=True).stdout
    schema = without_prose(json.loads(printed))
    definitions = schema.pop("$defs")
    lines = [f"{json.dumps(name)}: {json.dumps(definitions[name])}" for name in sorted(definitions)]
    return f'{json.dumps(schema)[:-1]}, "$defs": {{\n' + ",\n".join(lines) + "\n}}\n"


def without_prose(schema: Any) -> Any:
    """A schema without what no check needs; the texts stand in the Rust source."""
    if isinstance(schema, dict):
        # A property of such a name is no text, but a schema.
        return {
            key: without_prose(value)
            for key, value in schema.items()
            if key not in ("title", "description") or not isinstance(value, str)
        }
    return [without_prose(each) for each in schema] if isinstance(schema, list) else schema


def systems(definitions: Mapping[str, _Schema]) -> str:
    """The period systems by name, each as the row of the engine's table."""
    rows = {row["const"]: row for row in definitions["SystemProfile"]["oneOf"]}
    shown = {
        name: {"title": row["help"]}
        | {key: row[key] for key in row if key not in ("const", "help", "type")}
        for name, row in rows.items()
    }
    return json.dumps(shown, indent=2) + "\n"


class Stub:
    """
    The types of all definitions.

    No key is required: a stored result of another version may lack some. So the type with the
    fields of all kinds stands for each kind, too.
    """

    def __init__(self, definitions: Mapping[str, _Schema]) -> None:
        self._definitions = definitions
        #: Objects that one field of several kinds may hold, by the type that has all their fields.
        self._joined: dict[str, set[str]] = {}

    def text(self) -> str:
        # First those whose fields are joined, so that each kind has the joined type, too.
        first = ("Outcome", "Request")
        names = sorted(self._definitions, key=lambda name: (name not in first, name))
        parts = [part for name in names for part in self._definition(name)]
        for name, refs in sorted(self._joined.items()):
            parts += self._wide(name, [{"$ref": f"#/$defs/{ref}"} for ref in sorted(refs)])
        return _HEAD + "".join(parts)

    def _definition(self, name: str) -> Iterator[str]:
        schema = self._definitions[name]
        if name in {ref for refs in self._joined.values() for ref in refs}:
            return
        if "properties" in schema:
            fields = sorted(schema["properties"].items())
            yield _class(name, {key: self._type(each) for key, each in fields})
        elif any("properties" in each for each in schema.get("oneOf", ())):
            objects = [each for each in schema["oneOf"] if "properties" in each]
            names = [each for each in schema["oneOf"] if "properties" not in each]
            of_objects = _WIDE.get(name, f"{name}Object" if names else name)
            yield from self._wide(of_objects, objects)
            if names:
                yield f"\n{name} = {self._type({'oneOf': names})} | {of_objects}\n"
        else:
            text = f"{name} = {self._type(schema)}"
            if len(text) > _WIDTH:
                text = text.replace("[", "[\n    ").replace(", ", ",\n    ").replace("]", ",\n]")
            yield f"\n{text}\n"

    def _wide(self, name: str, kinds: Iterable[_Schema]) -> Iterator[str]:
        found: dict[str, list[_Schema]] = {}
        for kind in kinds:
            tags = [each.get("const") for each in kind.get("properties", {}).values()]
            if not set(_APART) & set(tags):
                for key, each in self._properties(kind).items():
                    found.setdefault(key, []).append(each)
        fields = {key: self._either(key, each) for key, each in sorted(found.items())}
        yield _class(name, fields)

    def _properties(self, kind: _Schema) -> dict[str, _Schema]:
        own: dict[str, _Schema] = kind.get("properties", {})
        if "$ref" not in kind:
            return own
        return {**self._properties(self._definitions[_name(kind["$ref"])]), **own}

    def _either(self, key: str, schemas: list[_Schema]) -> str:
        types = list(dict.fromkeys(map(self._type, schemas)))
        if len(types) == 1:
            return types[0]
        if all(each.startswith("Literal") for each in types):
            return "str"
        refs = {ref for each in schemas for ref in _refs(each)}
        name = key.removesuffix("s").capitalize()
        joined = {re.sub(rf"\b({'|'.join(refs)})\b", name, each) for each in types}
        if len(joined) == 1 and all("properties" in self._definitions[ref] for ref in refs):
            self._joined.setdefault(name, set()).update(refs)
            return joined.pop()
        without_null = {each.removesuffix(" | None") for each in types}
        return f"{without_null.pop()} | None" if len(without_null) == 1 else "Any"

    def _type(self, schema: _Schema) -> str:
        if "anyOf" in schema:
            return " | ".join(self._type(each) for each in schema["anyOf"])
        if "oneOf" in schema:
            return self._type({"enum": [name for each in schema["oneOf"] for name in _names(each)]})
        if "$ref" in schema:
            name = _name(schema["$ref"])
            for joined, refs in self._joined.items():
                if name in refs:
                    return joined
            return _WIDE.get(name, name)
        if names := _names(schema):
            return f"Literal[{', '.join(map(json.dumps, names))}]"
        kind = schema["type"]
        if isinstance(kind, list):
            return " | ".join(self._type({**schema, "type": each}) for each in kind)
        if kind == "array":
            return f"list[{self._type(schema['items'])}]"
        if kind == "object":
            others = schema.get("additionalProperties")
            return f"dict[str, {self._type(others) if isinstance(others, dict) else 'object'}]"
        return "None" if kind == "null" else _PLAIN[kind]


def _names(schema: _Schema) -> list[str]:
    return [schema["const"]] if "const" in schema else list(schema.get("enum", ()))


def _name(ref: str) -> str:
    return ref.removeprefix("#/$defs/")


def _refs(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield _name(schema["$ref"])
        for each in schema.values():
            yield from _refs(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _refs(each)


def _class(name: str, fields: Mapping[str, str]) -> str:
    lines = [f"    {key}: {each}" for key, each in fields.items()] or ["    pass"]
    return f"\nclass {name}(TypedDict, total=False):\n" + "\n".join(lines) + "\n"


def main() -> int:
    """Write the files, or with `--check` compare them."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    asked.add_argument("--check", action="store_true", help="change nothing; fail if they differ")
    is_check = asked.parse_args().check
    # Not found by lanlab itself: what is wrong with its messages may keep it from being imported.
    engine = shutil.which("lanlab-engine", path=sysconfig.get_path("scripts"))
    if engine is None:
        print("error: no lanlab-engine beside this Python; run `make setup`", file=sys.stderr)
        return 2
    schema = generate(engine)
    definitions = json.loads(schema)["$defs"]
    texts = {TARGET: schema, STUB: Stub(definitions).text(), SYSTEMS: systems(definitions)}
    if not is_check:
        for target, text in texts.items():
            target.write_text(text)
        return 0
    stale = [each for each, text in texts.items() if not each.exists() or each.read_text() != text]
    for each in stale:
        print(f"{each}: not what the engine's schema gives; run `make messages`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
