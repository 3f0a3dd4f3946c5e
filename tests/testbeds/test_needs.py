"""What `needs` says is what opening a testbed then finds."""

import pytest

from lanlab.errors import UnknownName, UnmetNeed
from lanlab.testbeds.needs import Need, _medium, needs
from lanlab.testbeds.registry import TESTBEDS
from lanlab.testbeds.registry import testbed as open_testbed

pytestmark = pytest.mark.rights


@pytest.mark.parametrize("name", TESTBEDS)
def test_every_need_is_named_once_and_says_what_was_found(name: str) -> None:
    found = needs(name)
    assert found
    assert len({need.name for need in found}) == len(found)
    for need in found:
        assert need.detail
        assert need.found or need.how_to_get or need.detail.startswith("not tried")


def test_namespaces_are_found_where_a_testbed_can_be_opened() -> None:
    by_name: dict[str, Need] = {need.name: need for need in needs("virtual")}
    try:
        open_testbed("virtual", 2, "unshaped").close()
        opens = True
    except UnmetNeed:
        opens = False
    assert by_name["network namespaces"].found == opens
    assert not opens or by_name["cable (veth)"].found


def test_missing_tools_do_not_hide_other_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lanlab.testbeds.tools._SYSTEM_FOLDERS", ())
    monkeypatch.setenv("PATH", "/nowhere")
    by_name = {need.name: need for need in needs("virtual")}
    assert not by_name["ip"].found
    assert by_name["ip"].how_to_get == "apt install iproute2"
    assert not by_name["network namespaces"].found
    assert by_name["cable (veth)"].detail == "not tried: needs network namespaces"


@pytest.mark.parametrize(
    ("said", "names_module"),
    [
        ("Traceback …\nOSError: [Errno 97] Address family not supported by protocol", True),
        ("Fatal Python error: …\nModuleNotFoundError: No module named 'encodings'", False),
    ],
)
def test_a_kernel_module_is_named_only_if_it_is_missing(
    said: str, names_module: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lanlab.testbeds.needs.usable_interfaces", lambda: "packet")
    monkeypatch.setattr("lanlab.testbeds.needs._try", lambda argv, text="": (False, said))

    need = _medium(["unshare"])

    assert need.detail == said.partition("\n")[2]
    assert need.how_to_get.startswith("modprobe") is names_module


def test_needs_of_an_unknown_testbed_are_an_error() -> None:
    with pytest.raises(UnknownName, match="no testbed named `lan`"):
        needs("lan")
