"""Parameters from the command line, checked by their workload."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from lanlab.errors import UsageError
from lanlab.store import Level

if TYPE_CHECKING:
    from pydantic import ValidationError


def checked(workload_name: str, parameters: Mapping[str, Level | None]) -> dict[str, Level]:
    """All parameters of a workload, in lanlab's units.

    Raises:
        UsageError: A parameter is not allowed.
    """
    from pydantic import ValidationError

    from lanlab.workloads import workload

    given = {key: value for key, value in parameters.items() if value is not None}
    try:
        values = workload(workload_name).Parameters.model_validate(given)
    except ValidationError as error:
        raise _refused(error, given, workload_name) from None
    return values.model_dump(exclude_none=True)


def _refused(error: ValidationError, given: Mapping[str, Level], name: str) -> UsageError:
    from lanlab.studies.problems import allowed_by
    from lanlab.workloads import workload
    from lanlab.workloads.definitions import definitions

    known = definitions(workload(name).Parameters)
    options = {key: one.option or key for key, one in known.items()}
    first = error.errors(include_url=False)[0]
    message = str(first["msg"]).removeprefix("Value error, ")
    # The parser's hint for a malformed quantity.
    notes = getattr(first.get("ctx", {}).get("error"), "__notes__", ())
    hint = notes[0] if notes else None
    if not first["loc"]:
        named = re.sub(r"\w+", lambda word: options.get(word[0], word[0]), message)
        return UsageError(named, hint=hint)
    key = str(first["loc"][0])
    option = options.get(key, key)
    if first["type"] == "value_error":
        # For an error of `lanlab.units`, replace the name of the quantity by the option.
        return UsageError(f"{option}: {message.partition(': ')[2]}", hint=hint)
    found = given.get(key, first["input"])
    return UsageError(f"{option}: found `{found}`; allowed: {allowed_by(first, known.get(key))}")
