"""A result as data, the answer first, which terminal, pages, JSON and Markdown render."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from lanlab.frozen import dataclass
from lanlab.report.document.table import Table, escaped

Block = Table | str


@dataclass(frozen=True)
class Document:
    #: Sentences, the most important first.
    answer: Sequence[str]
    #: Tables, and what is said between them.
    body: Sequence[Block] = ()
    #: What the first sentences omit: how certain they are.
    in_full: Sequence[str] = ()
    #: Sentences below the tables: caveats, and how it was measured.
    more: Sequence[str] = ()
    #: The first sentences that answer one question together: each has a place above the tables.
    leads: int = 0
    #: Belongs to the first sentence, so there is always room for it.
    caution: str = ""
    #: The question of the study, above its answers if there is room.
    question: str = ""
    #: What a person can do next; not for programs.
    next_step: str = ""
    #: Numbers for programs, by their keys in JSON.
    data: Mapping[str, object] = field(default_factory=dict)

    @property
    def sentences(self) -> list[str]:
        first, *others = self.answer or ("",)
        said = (one for one in self.body if isinstance(one, str))
        every = (first, self.caution, *others, *said, *self.in_full, *self.more)
        return [" ".join(one.split()) for one in every if one]

    def to_json(self) -> dict[str, object]:
        return {"answer": self.sentences, **self.data}

    def to_markdown(self) -> str:
        tables = [
            f"**{escaped(one.title)}**\n\n{one.to_markdown()}"
            for one in self.body
            if isinstance(one, Table)
        ]
        sentences = "\n".join(f"- {escaped(one)}" for one in self.sentences)
        return "\n\n".join([sentences, *tables]) + "\n"
