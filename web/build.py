"""Write what is not written by hand: linkwork.wasm, one plain script with everything in it, the example's linkages.

    python web/build.py

Browsers load neither modules nor WebAssembly from ``file://``: a page that is opened from disk takes
``linkwork.inline.js``, which has the machine code inside.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
MODULES = ("linkwork.js", "bodies.js", "textbook.js", "rotations.js")  # whose exports a page has


def example_linkages() -> dict[str, str]:
    """Return the linkages of the example, packed."""
    import linkwork as lw

    point = (0.0, 0.0, 0.0)
    body = lw.models.human(root="floating")
    held = [lw.Reach(f"{side}_foot", pose=body.forward("stand", frame=f"{side}_foot")) for side in ("left", "right")]
    hands = [lw.Reach(f"{side}_hand", position=point) for side in ("left", "right")]
    eyes = lw.LookAt("eyes", at=(2.0, 0.0, 1.5))
    return {
        "planar": lw.models.planar([15, 10, 8, 5]).pack(lw.Reach("tip", position=(0.0, 0.0))).to_json(),
        "panda": lw.models.panda().pack("tip").to_json(),
        "human": body.pack([*held, *hands, eyes, lw.Rest("stand")]).to_json(),
    }


def write_page(output: Path) -> None:
    """Write the machine code, the script with it inside, and the example's linkages into a folder."""
    from linkwork.draw.scripts import bundle
    from linkwork.kernels.web import web_code

    (output / "linkwork.wasm").write_bytes(web_code())
    (output / "linkwork.inline.js").write_text(bundle(MODULES, code=True), encoding="utf-8")
    packs = ",\n".join(f"{json.dumps(name)}: {text}" for name, text in example_linkages().items())
    (output / "example.packs.js").write_text(f"var packs = {{\n{packs}\n}};\n", encoding="utf-8")


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
    for name in ("linkwork.wasm", "linkwork.inline.js", "example.packs.js"):
        print(f"{given.output / name}: {(given.output / name).stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
