"""Servers by name, or whichever is installed: what is refused before a run begins."""

from typing import cast

import pytest

from lanlab.errors import LabError, UnknownName
from lanlab.performers import EngineHost
from lanlab.performers.servers.of_trial import check_server
from lanlab.testbeds import testbed as open_testbed
from lanlab.workloads.stations.parameters import StationsParameters


def check(**given: str) -> None:
    parameters = StationsParameters.model_validate(given)
    # No server of these is a user's own, whose name a client would look up.
    client = cast("EngineHost", None)
    with open_testbed("loopback") as bed:
        check_server(parameters, bed.hosts[1], client)


def test_a_service_without_a_real_server_is_refused() -> None:
    with pytest.raises(UnknownName, match="no service of a server named `s3`"):
        check(service="s3", server="installed")


def test_an_installed_server_is_used_or_named() -> None:
    try:
        check(service="ftp", server="installed")
    except LabError as error:
        assert "server `vsftpd` needs" in error.message and error.hint
