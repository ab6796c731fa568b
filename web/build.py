"""Build the generated files of web pages: linkwork.wasm, self-contained scripts, and the example's linkages.

    python web/build.py

Browsers load neither modules nor WebAssembly from ``file://``. A page that is opened from disk uses
``linkwork.inline.js``, which contains the machine code, or ``linkwork.view.js``, which also has ``<linkwork-view>``.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
MODULES = ("linkwork.js", "bodies.js", "goals.js", "textbook.js", "rotations.js")  # a page gets their exports
SCRIPTS = {"linkwork.inline.js": MODULES, "linkwork.view.js": ("view/view.js", *MODULES)}


def example_scenes() -> dict[str, str]:
    """Return the linkages of the example page."""
    import linkwork as lw

    linkages = {
        "planar": lw.models.planar([15, 10, 8, 5]),
        "panda": lw.models.panda(),
        "human": lw.models.human(root="floating"),
    }
    return {name: lw.draw.page_data(linkage) for name, linkage in linkages.items()}


def write_page(output: Path) -> None:
    """Write the machine code, the scripts that contain it, and the example's linkages to a folder."""
    from linkwork.draw.scripts import bundle
    from linkwork.kernels.web import web_code

    (output / "linkwork.wasm").write_bytes(web_code())
    for name, modules in SCRIPTS.items():
        (output / name).write_text(bundle(modules, code=True), encoding="utf-8")
    scenes = ",\n".join(f"{json.dumps(name)}: {text}" for name, text in example_scenes().items())
    (output / "example.packs.js").write_text(f"var scenes = {{\n{scenes}\n}};\n", encoding="utf-8")


def main() -> int:
    """Write everything, or print why there is no machine code."""
    from linkwork.errors import PageError

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=HERE, help="a folder; by default that of linkwork.js")
    given = parser.parse_args()
    try:
        write_page(given.output)
    except PageError as error:
        print(error, file=sys.stderr)
        return 1
    for name in ("linkwork.wasm", *SCRIPTS, "example.packs.js"):
        print(f"{given.output / name}: {(given.output / name).stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
