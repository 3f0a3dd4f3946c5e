"""The services that a file server offers, and the plan that measures them."""

from __future__ import annotations
