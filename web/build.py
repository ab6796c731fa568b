"""Build what a page needs that is opened from disk: one plain script with everything in it, and the example's linkages.

    python web/build.py [--wasm linkwork.wasm] [--output web]

Browsers load neither modules nor WebAssembly from ``file://``; a script with the machine code inside needs nothing else.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
from pathlib import Path

HERE = Path(__file__).parent
MODULES = ("rotations.js", "starts.js", "linkwork.js", "bodies.js", "textbook.js")  # each after those that it imports
IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:class|function|const) (\w+))", re.MULTILINE)


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


def build(wasm: Path, output: Path) -> None:
    """Write the script and the example's linkages."""
    (output / "linkwork.inline.js").write_text(inline_script(wasm.read_bytes()), encoding="utf-8")
    packs = ",\n".join(f"{json.dumps(name)}: {text}" for name, text in example_linkages().items())
    (output / "example.packs.js").write_text(f"var packs = {{\n{packs}\n}};\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wasm", type=Path, default=HERE / "linkwork.wasm")
    parser.add_argument("--output", type=Path, default=HERE)
    words = parser.parse_args()
    build(words.wasm, words.output)
    for name in ("linkwork.inline.js", "example.packs.js"):
        print(f"{words.output / name}: {(words.output / name).stat().st_size:,} bytes")
