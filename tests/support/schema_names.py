"""The names that definitions of the engine's schema allow."""

from typing import Any


def names_of(schema: dict[str, Any]) -> list[str]:
    choices = schema.get("oneOf", [schema])
    if not all("enum" in each or "const" in each for each in choices):
        return []
    return [name for each in choices for name in each.get("enum", [each.get("const")])]
