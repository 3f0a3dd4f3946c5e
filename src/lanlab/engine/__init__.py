"""Starts engines and exchanges messages with them."""

from lanlab.engine.locate import engine_path
from lanlab.engine.measurement import Measurement
from lanlab.engine.process import DESCRIBE, SCHEMA_VERSION, Engine

__all__ = ["DESCRIBE", "SCHEMA_VERSION", "Engine", "Measurement", "engine_path"]
