"""
What numbers of stations make of a file server: curves, bounds, models, predictions.

Nothing that runs at start-up imports this package: it loads numpy and scipy. docs/stations.md has
the rules and formulas.
"""

from __future__ import annotations

from lanlab.analysis.stations.answer import StationsWithin, stations_within
from lanlab.analysis.stations.bounds import (
    Bounds,
    asymptotic_bounds,
    balanced_job_bounds,
    knee_stations,
)
from lanlab.analysis.stations.demand import (
    Demand,
    demand_alone,
    demand_from_slope,
    demand_from_throughput,
    demand_from_utilisation,
)
from lanlab.analysis.stations.levels import StationCurve, StationLevel, curves_of
from lanlab.analysis.stations.little import LittleFlag, little_flags
from lanlab.analysis.stations.maximum import GreatestThroughput, greatest_throughput
from lanlab.analysis.stations.models import ServerModel, fit_model, residuals
from lanlab.analysis.stations.mva import MeanValues, Queue, mean_values
from lanlab.analysis.stations.predict import Prediction, Predictor, predictor
from lanlab.analysis.stations.spread import (
    StationSpread,
    station_errors,
    station_record,
    station_spread,
)
from lanlab.analysis.stations.usl import ScalabilityLaw, fit_law

__all__ = [
    "Bounds",
    "Demand",
    "GreatestThroughput",
    "LittleFlag",
    "MeanValues",
    "Prediction",
    "Predictor",
    "Queue",
    "ScalabilityLaw",
    "ServerModel",
    "StationCurve",
    "StationLevel",
    "StationSpread",
    "StationsWithin",
    "asymptotic_bounds",
    "balanced_job_bounds",
    "curves_of",
    "demand_alone",
    "demand_from_slope",
    "demand_from_throughput",
    "demand_from_utilisation",
    "fit_law",
    "fit_model",
    "greatest_throughput",
    "knee_stations",
    "little_flags",
    "mean_values",
    "predictor",
    "residuals",
    "station_errors",
    "station_record",
    "station_spread",
    "stations_within",
]
