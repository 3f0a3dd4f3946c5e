"""Testbeds: hosts and the links between them. One file each; `TESTBEDS` is the registry."""

from lanlab.testbeds.base import Host, LinkFacts, Testbed
from lanlab.testbeds.opening import Opened, Opening
from lanlab.testbeds.registry import TESTBEDS, testbed

__all__ = ["TESTBEDS", "Host", "LinkFacts", "Opened", "Opening", "Testbed", "testbed"]
