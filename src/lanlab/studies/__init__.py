"""Studies: published and own experiments, as data."""

from lanlab.studies.load import LoadedStudy, known_studies, load_study
from lanlab.studies.model import Level, Published, PublishedValue, Search, Study
from lanlab.studies.scaling import ExperimentAtScale, at_scale

__all__ = [
    "ExperimentAtScale",
    "Level",
    "LoadedStudy",
    "Published",
    "PublishedValue",
    "Search",
    "Study",
    "at_scale",
    "known_studies",
    "load_study",
]
