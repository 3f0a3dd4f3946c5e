"""Commands on modelled machines: what they print, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import run_cli
