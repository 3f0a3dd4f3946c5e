"""What streams and echoes have in common: messages of one size over UDP or TCP."""

from __future__ import annotations

from lanlab.report.presentations.base import Presentation, SeriesOf, over


class FlowPresentation(Presentation):
    def series_text(self, of: SeriesOf) -> str:
        from lanlab.report.saturation.saturation_text import messages_text

        # The conditions share a message size, which distinguishes experiments.
        parameters = of.summary.parameters
        if "message_size_bytes" not in of.summary.factors:
            others = {key: level for key, level in of.rest.items() if key != "transport"}
            named = f"of {messages_text(parameters)}"
            return f"{named}, {of.words(others)}," if others else named
        # The text of the factors already has this name.
        fixed = "" if "transport" in of.rest else parameters.get("transport", "")
        carrier, condition = str(fixed).upper(), of.words(of.rest)
        if carrier and of.rest.keys() - {"ip_version"}:
            return f"over {carrier}, {condition},"
        return over(carrier, condition)
