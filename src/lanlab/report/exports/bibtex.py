"""BibTeX entries for lanlab and for published studies, to cite figures."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lanlab import __version__
from lanlab.studies.model import Study

#: The file that is written next to figures.
REFERENCES = "references.bib"
#: Keep equal to `CITATION.cff`.
_LANLAB = {
    "author": "{lanlab contributors}",
    "title": "{lanlab: a network and file-service performance laboratory}",
}


def bibtex(studies: Iterable[Study]) -> str:
    """An entry for lanlab, and one for each published study given."""
    entries = [_entry("software", "lanlab", {**_LANLAB, "version": __version__})]
    published = {study.id: study for study in studies if study.source is not None}
    entries += [_entry("misc", *one) for one in map(_publication, published.values())]
    return "\n".join(entries)


def _publication(study: Study) -> tuple[str, dict[str, str]]:
    source = study.source
    assert source is not None
    # A citation has the form `authors: title. Where, year.`
    title, _, place = source.citation.partition(": ")[2].partition(". ")
    fields = {
        "author": " and ".join(source.authors),
        "title": title or study.title,
        "howpublished": place,
        "year": str(source.year or ""),
        "doi": source.doi or "",
    }
    return study.id, {key: _escaped(text) for key, text in fields.items() if text}


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = [f"  {name} = {{{text}}}" for name, text in fields.items()]
    return f"@{kind}{{{key},\n" + ",\n".join(lines) + "\n}\n"


def _escaped(text: str) -> str:
    """Text with the special characters of BibTeX and TeX escaped."""
    return re.sub(r"([&%$#_])", r"\\\1", re.sub(r"[{}\\~^]", " ", text))
