"""What a file server offers, and the plan that measures it."""

from __future__ import annotations
