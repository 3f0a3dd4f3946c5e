"""What streams and echoes are shown alike in: messages of one size, over UDP or TCP."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lanlab.analysis.summary import Summary
from lanlab.report.presentations.base import Presentation, over
from lanlab.report.saturation_text import messages_text
from lanlab.store import Level
from lanlab.studies import Study


class FlowPresentation(Presentation):
    """Of workloads that exchange messages."""

    def series_text(
        self,
        study: Study,
        summary: Summary,
        rest: Mapping[str, Level],
        words: Callable[[Mapping[str, Level]], str],
    ) -> str:
        """By message size and transport protocol."""
        # A size that several experiments have is what tells their sentences apart.
        if "message_size_bytes" not in summary.factors:
            others = {key: level for key, level in rest.items() if key != "transport"}
            named = f"of {messages_text(summary.parameters)}"
            return f"{named}, {words(others)}," if others else named
        # A factor names itself.
        fixed = "" if "transport" in rest else summary.parameters.get("transport", "")
        carrier, condition = str(fixed).upper(), words(rest)
        if carrier and rest.keys() - {"ip_version"}:
            return f"over {carrier}, {condition},"
        return over(carrier, condition)
