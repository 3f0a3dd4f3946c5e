"""An engine into which a test can load a library: the one that is delivered is linked to none."""

from pathlib import Path

from missing import missing

from lanlab.engine import engine_path

_BUILT_FOR_TESTS = Path(__file__).parents[2] / "target" / "debug" / "lanlab-engine"
#: Where the program header of a program names what loads its libraries.
_HEADERS_BYTES = 4096


def preloadable_engine() -> Path:
    for engine in (Path(engine_path()), _BUILT_FOR_TESTS):
        if _loads_libraries(engine):
            return engine
    return missing("needs an engine that loads libraries: `cargo build -p lanlab-engine`")


def _loads_libraries(program: Path) -> bool:
    if not program.is_file():
        return False
    with program.open("rb") as octets:
        return b"/ld-" in octets.read(_HEADERS_BYTES)
