"""
Analysis of a file server's results over the number of stations: curves, models, predictions.

Start-up code does not import this package, because it loads numpy and scipy. docs/nas.md has the
rules and formulas.
"""

from __future__ import annotations

from lanlab.analysis.stations.answer import StationsWithin, stations_within
from lanlab.analysis.stations.levels import StationCurve, StationLevel, curves_of
from lanlab.analysis.stations.models import ServerModel, fit_model, residuals
from lanlab.analysis.stations.predict import Predictor, predictor
from lanlab.analysis.stations.spread import (
    StationSpread,
    station_errors,
    station_record,
    station_spread,
)
from lanlab.analysis.stations.usl import throughput_by_law

__all__ = [
    "Predictor",
    "ServerModel",
    "StationCurve",
    "StationLevel",
    "StationSpread",
    "StationsWithin",
    "curves_of",
    "fit_model",
    "predictor",
    "residuals",
    "station_errors",
    "station_record",
    "station_spread",
    "stations_within",
    "throughput_by_law",
]
