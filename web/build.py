"""Build what is not written by hand: linkwork.wasm, one plain script with everything in it, the example's linkages.

    python web/build.py

Browsers load neither modules nor WebAssembly from ``file://``: a page that is opened from disk takes
``linkwork.inline.js``, which has the machine code inside. Nothing is compiled anew while the kernels are as they were.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
KERNELS = (  # that linkwork.js calls
    "frames_one", "tip_one", "jacobian_one", "pose_errors",
    "search_one", "closest_many", "follow_one", "search_bodies", "step_body",
    "transpose_step", "pseudoinverse_step", "damped_step", "sweep_inward",
)  # fmt: skip
MODULES = ("rotations.js", "starts.js", "linkwork.js", "bodies.js", "textbook.js")  # each after those that it imports
IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:class|function|const) (\w+))", re.MULTILINE)


def machine_code(folder: Path) -> Path:
    """Return linkwork.wasm in a folder, compiled unless it is there and the kernels are as they were."""
    from linkwork.kernels.pack import PackError, check_library, read_listing
    from linkwork.kernels.targets import TARGETS

    wasm = TARGETS["wasm"]
    file = folder / wasm.name / wasm.file
    try:
        listing = read_listing(file.parent, wasm)
        check_library(file, listing)
        good = set(listing["functions"]) >= set(KERNELS)
    except PackError:
        good = False
    if not good:
        from linkwork.kernels.build import build

        build([wasm], folder, functions=KERNELS)
    return file


def inline_script(wasm: bytes) -> str:
    """Return all modules and the machine code as one script, which leaves ``linkwork`` behind."""
    names: list[str] = []
    parts = []
    for module in MODULES:
        text = (HERE / module).read_text(encoding="utf-8")
        names += EXPORT.findall(text)
        text = EXPORT.sub("", IMPORT.sub("", text)).replace("import.meta.url", '""').replace("// @ts-check\n", "")
        parts.append(text.replace('= new URL("linkwork.wasm", HERE)', "= CODE"))
    head = f'const CODE = Uint8Array.from(atob("{base64.b64encode(wasm).decode()}"), (c) => c.charCodeAt(0));\n'
    body = "\n".join(parts)
    return f'var linkwork = (() => {{\n"use strict";\n{head}{body}\nreturn {{ {", ".join(names)} }};\n}})();\n'


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


def write_page(wasm: Path, output: Path) -> None:
    """Write the machine code, the script with it inside, and the example's linkages into a folder."""
    shutil.copy(wasm, output / "linkwork.wasm")
    (output / "linkwork.inline.js").write_text(inline_script(wasm.read_bytes()), encoding="utf-8")
    packs = ",\n".join(f"{json.dumps(name)}: {text}" for name, text in example_linkages().items())
    (output / "example.packs.js").write_text(f"var packs = {{\n{packs}\n}};\n", encoding="utf-8")


def main() -> int:
    """Build everything; say in a sentence why not, where the compiler is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wasm", type=Path, help="machine code that is there already")
    parser.add_argument("--output", type=Path, default=HERE, help="a folder; by default that of linkwork.js")
    given = parser.parse_args()
    try:
        write_page(given.wasm or machine_code(HERE.parent / "build" / "web"), given.output)
    except ImportError as error:
        print(f"linkwork.wasm is not built: {error}", file=sys.stderr)
        return 1
    for name in ("linkwork.wasm", "linkwork.inline.js", "example.packs.js"):
        print(f"{given.output / name}: {(given.output / name).stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
