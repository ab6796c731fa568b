"""Write what is not written by hand: linkwork.wasm, plain scripts with everything in them, the example's linkages.

    python web/build.py

Browsers load neither modules nor WebAssembly from ``file://``: a page that is opened from disk takes
``linkwork.inline.js``, which has the machine code inside, or ``linkwork.view.js``, with ``<linkwork-view>`` as well.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
MODULES = ("linkwork.js", "bodies.js", "goals.js", "textbook.js", "rotations.js")  # whose exports a page has
SCRIPTS = {"linkwork.inline.js": MODULES, "linkwork.view.js": ("view/view.js", *MODULES)}


def example_scenes() -> dict[str, str]:
    """Return what the example shows."""
    import linkwork as lw

    linkages = {
        "planar": lw.models.planar([15, 10, 8, 5]),
        "panda": lw.models.panda(),
        "human": lw.models.human(root="floating"),
    }
    return {name: lw.draw.page_data(linkage) for name, linkage in linkages.items()}


def write_page(output: Path) -> None:
    """Write the machine code, the scripts with it inside, and the example's linkages into a folder."""
    from linkwork.draw.scripts import bundle
    from linkwork.kernels.web import web_code

    (output / "linkwork.wasm").write_bytes(web_code())
    for name, modules in SCRIPTS.items():
        (output / name).write_text(bundle(modules, code=True), encoding="utf-8")
    scenes = ",\n".join(f"{json.dumps(name)}: {text}" for name, text in example_scenes().items())
    (output / "example.packs.js").write_text(f"var scenes = {{\n{scenes}\n}};\n", encoding="utf-8")


def main() -> int:
    """Write everything; say in a sentence why not, where there is no machine code."""
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
