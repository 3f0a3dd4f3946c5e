"""Studies: published and own experiments, as data."""

from lanlab.studies.base import Level
from lanlab.studies.findings import Finding, Statement
from lanlab.studies.load import LoadedStudy, known_studies, load_study
from lanlab.studies.model import Search, Study, Waiting
from lanlab.studies.published import MissingValue, Published, PublishedValue
from lanlab.studies.scaling import ExperimentAtScale, at_scale, waits_for
from lanlab.studies.selection import Selection

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
