"""Bundle the scripts of web pages: modules of the folder ``web`` in one plain script, with the machine code inside.

A browser that opens a page from disk loads neither modules nor WebAssembly from other files. So the modules that a page
needs are joined here, each in its own scope, and the machine code is written into them.

Supported syntax: ``import { a, b as c } from "./x.js";``, ``import * as x from "./x.js";`` and ``import "./x.js";`` at
the beginning of a line; ``export`` before a function, a class or a constant.
"""

from __future__ import annotations

import base64
import gzip
import posixpath
import re
from collections.abc import Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from ..errors import PageError

IMPORT = re.compile(r'^import (?:(?:\{([^}]*)\}|\* as (\w+)) from )?"(\.{1,2}/[^"]+)";[ \t]*\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:class|function\*?|const) (\w+))", re.MULTILINE)
COMMENT = re.compile(r"^[ \t]*/\*\*(?:(?!\*/).)*\*/[ \t]*\n|^[ \t]*//[^\n]*\n", re.MULTILINE | re.DOTALL)
CODE = "code.js"  # the module that locates the machine code
INSIDE = """function code() {{
  const packed = Uint8Array.from(atob("{text}"), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")));
}}
"""


@cache
def folder() -> Path:
    """Return the folder of the scripts: beside this module in an installation, ``web`` in a checkout."""
    here = Path(__file__).resolve()
    for place in (here.with_name("web"), here.parents[3] / "web"):
        if (place / "linkwork.js").is_file():
            return place
    raise PageError("the scripts of web pages are missing from this installation; install linkwork again.")


def bundle(entries: Sequence[str], *, code: bool = False) -> str:
    """Return modules and everything they import as one plain script.

    Exports of the entries are added to the page's global `linkwork`.

    Args:
        entries: Paths of modules in the folder of scripts, such as ``view/view.js``.
        code: Whether to write the machine code into the script.
    """
    texts: dict[str, str] = {}
    needs: dict[str, list[str]] = {}
    left = [*entries]
    while left:
        name = left.pop()
        if name in texts:
            continue
        texts[name] = _inside() if name == CODE and code else (folder() / name).read_text(encoding="utf-8")
        needs[name] = [_resolved(name, found[3]) for found in IMPORT.finditer(texts[name])]
        left += needs[name]
    try:
        order = [*TopologicalSorter({name: sorted(needs[name]) for name in sorted(needs)}).static_order()]
    except CycleError as error:
        raise PageError(f"modules import each other in a circle: {' -> '.join(error.args[1])}.") from error
    parts = ['"use strict";\nvar linkwork = globalThis.linkwork ?? {};\n(() => {\nconst $ = {};\n']
    parts += [_scope(name, texts[name]) for name in order]
    parts += [f'Object.assign(linkwork, $["{name}"]);\n' for name in entries]
    return "".join([*parts, "})();\n"])


def _resolved(name: str, path: str) -> str:
    """Return the name of a module that another one imports by a relative path."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def _scope(name: str, text: str) -> str:
    """Return a module as a function that is called at once and returns its exports."""

    def taken(found: re.Match[str]) -> str:
        names, space, path = found.groups()
        module = f'$["{_resolved(name, path)}"]'
        if names is not None:
            return f"const {{ {' '.join(names.replace(' as ', ': ').split())} }} = {module};\n"
        return f"const {space} = {module};\n" if space else ""

    exports = EXPORT.findall(text)
    body = COMMENT.sub("", EXPORT.sub("", IMPORT.sub(taken, text))).replace("import.meta.url", '""')
    return f'$["{name}"] = (() => {{\n{body}return {{ {", ".join(exports)} }};\n}})();\n'


@cache
def _inside() -> str:
    """Return the module of the machine code, with the code inside."""
    from ..kernels.web import web_code

    packed = gzip.compress(web_code(), 9, mtime=0)
    return "export " + INSIDE.format(text=base64.b64encode(packed).decode())
