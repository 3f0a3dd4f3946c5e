"""Where lines of a page do not end: before a unit, and within the id of a run."""

import pytest

from lanlab.report.page.rendering import environment


@pytest.mark.parametrize(
    "text",
    [
        "165 µs",
        "2.5 ms",
        "3 s",
        "3.41 Gbit/s",
        "9 bit/s",
        "4 B",
        "7 %",
        "1.05 \N{MULTIPLICATION SIGN}",
        "8 KB/s",
    ],
)
def test_a_number_keeps_its_unit(text: str) -> None:
    made = environment().from_string("{{ text | unbroken }}").render(text=f"mean {text} each")

    assert made == f"mean {text.replace(' ', chr(0xA0))} each"


def test_commands_are_code_and_text_is_escaped() -> None:
    made = environment().from_string("{{ text | unbroken }}").render(text="<b> `lanlab tour` & 1 s")

    assert made == "&lt;b&gt; <code>lanlab tour</code> &amp; 1\N{NO-BREAK SPACE}s"


def test_ids_in_headings_do_not_break_and_text_is_escaped() -> None:
    named = {"text": "<b> (run 20261121-080000-a-0001) compared with B"}
    made = environment().from_string("{{ text | with_ids }}").render(named)

    whole = '<span class="id">20261121-080000-a-0001</span>'
    assert made == f"&lt;b&gt; (run {whole}) compared with B"
