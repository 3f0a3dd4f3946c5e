"""No modules of lanlab import each other. Layers between packages are import-linter's."""

import sys
from pathlib import Path

import grimp

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from check_import_circles import circles


def test_no_modules_import_each_other() -> None:
    graph = grimp.build_graph("lanlab", cache_dir=None)
    # What a package has from its own modules, or they from it, is within one part.
    imports = {
        (module,): {
            (imported,)
            for imported in graph.find_modules_directly_imported_by(module)
            if not module.startswith(f"{imported}.")
        }
        for module in graph.modules
    }
    found = [{name for (name,) in circle} for circle in circles(imports)]
    assert len(imports) > 100
    assert found == []
