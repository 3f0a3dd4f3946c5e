"""Studies as data: the published ones and the user's own."""

from typing import TYPE_CHECKING

from lanlab.lazily import names_of

if TYPE_CHECKING:
    from lanlab.studies.base import Level
    from lanlab.studies.findings import Finding, Statement
    from lanlab.studies.load import LoadedStudy, known_studies, load_study
    from lanlab.studies.model import Search, Study, Waiting
    from lanlab.studies.published import MissingValue, Published, PublishedValue
    from lanlab.studies.scaling import ExperimentAtScale, at_scale, waits_for
    from lanlab.studies.selection import Selection
else:
    # Findings and published numbers load many models that a single measurement does not use.
    __getattr__ = names_of(
        __name__,
        {
            "base": ("Level",),
            "findings": ("Finding", "Statement"),
            "load": ("LoadedStudy", "known_studies", "load_study"),
            "model": ("Search", "Study", "Waiting"),
            "published": ("MissingValue", "Published", "PublishedValue"),
            "scaling": ("ExperimentAtScale", "at_scale", "waits_for"),
            "selection": ("Selection",),
        },
    )

__all__ = [
    "ExperimentAtScale",
    "Finding",
    "Level",
    "LoadedStudy",
    "MissingValue",
    "Published",
    "PublishedValue",
    "Search",
    "Selection",
    "Statement",
    "Study",
    "Waiting",
    "at_scale",
    "known_studies",
    "load_study",
    "waits_for",
]
