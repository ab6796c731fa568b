"""Program that expands a xacro file with the `xacro` package, in a separate process.

linkwork's module `xacro` runs this file as a program, so it imports nothing of linkwork. Expressions in xacro files are
Python. Here they can only use numbers, texts and lists, and the process can only read files in given folders.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
import runpy
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

try:
    import xacro
    from xacro import substitution_args
except ImportError:  # `_answer` reports it
    xacro = None

HARMLESS = ("list", "dict", "map", "str", "float", "int", "bool", "len", "min", "max", "round", "abs", "sum", "range")
INNER = {"mro", "vars", "gi_frame", "gi_code", "f_back", "f_globals", "f_builtins", "f_locals", "cr_frame", "tb_frame"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
SILENT = {"compile", "exec", "sys._getframe", "marshal.loads", "builtins.id", "glob.glob", "glob.glob/2"}
LISTED = {"os.listdir", "os.scandir"}
LONGEST_EXPRESSION = 10_000
WARM = '<robot xmlns:xacro="http://x"><xacro:arg name="a" default="1"/><a b="${2*$(arg a)}" c="$(eval 1+1)"/></robot>'


class Refusal(Exception):  # noqa: N818 - internal: it becomes the answer
    """An error in the file."""


class Unknown(Exception):  # noqa: N818 - likewise
    """An unknown package that the file refers to."""


class Arguments(dict[str, str]):
    """The arguments of a file, with a record of those that it uses."""

    def __init__(self, given: dict[str, str]) -> None:
        super().__init__(given)
        self.asked: dict[str, None] = {}

    def __contains__(self, name: object) -> bool:
        self.asked[str(name)] = None
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.asked[name] = None
        return super().__getitem__(name)


def main() -> None:
    """Answer the request on stdin with JSON on stdout."""
    answer = os.dup(1)
    os.dup2(2, 1)  # output of xacro is not part of the answer
    text = json.dumps(_answer(json.load(sys.stdin))).encode()
    while text:
        text = text[os.write(answer, text) :]
    os._exit(0)


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    if xacro is None:
        return {"missing": "xacro"}
    if not hasattr(xacro, "safe_eval") or not hasattr(substitution_args, "_eval_find"):
        return {"version": metadata.version("xacro")}  # other versions would evaluate expressions unchecked
    limits = runpy.run_path(str(Path(__file__).with_name("child_limits.py")))
    limits["limit"](request["seconds"], request["bytes"])
    xacro.safe_eval, substitution_args.eval = _evaluated, _evaluated
    finder = _Finder(request["packages"])
    substitution_args._eval_find = substitution_args._eval_dict["find"] = finder.find
    _expanded(WARM, "warm.xacro", {})  # imports all modules before the guard is set
    guard = _Guard(request["folders"], request["linked"])
    sys.addaudithook(guard.check)
    arguments = Arguments(request["arguments"])
    try:
        text = _expanded(request["text"], request["path"], arguments)
    except RecursionError:
        return {"error": "it calls itself endlessly"}
    except Exception as error:
        if finder.unknown is not None:
            return {"package": finder.unknown}
        return {"error": guard.refused or _message(error, request["path"]), "asked": list(arguments.asked)}
    return {"text": text, "arguments": dict(arguments), "asked": list(arguments.asked)}


def _expanded(text: str, path: str, arguments: dict[str, str]) -> str:
    xacro.init_stacks(path)
    document = xacro.parse(text)
    xacro.process_doc(document, mappings=arguments)
    return str(document.documentElement.toprettyxml(indent=" "))


def _message(error: Exception, path: str) -> str:
    """Return the message of xacro, with the file if it is an included one."""
    said = " ".join(str(error).split())[:300] or type(error).__name__
    file = (xacro.filestack or [path])[-1]
    return said if file in (path, None) else f"{said} (in {file})"


class _Finder:
    """Finds packages, and remembers the first unknown one."""

    def __init__(self, packages: dict[str, str]) -> None:
        self.packages = packages
        self.unknown: str | None = None

    def find(self, package: str) -> str:
        if package not in self.packages:
            self.unknown = package
            raise Unknown(package)
        return self.packages[package]


def _evaluated(expression: str, names: dict[str, Any], values: Any = None) -> Any:
    """Evaluate an expression without access to the machine.

    Both forms of xacro are evaluated here: ``${...}`` passes its names; ``$(eval ...)`` passes none and would otherwise
    get all of Python's builtins.
    """
    if len(expression) > LONGEST_EXPRESSION:
        raise Refusal("an expression is too long")
    tree = ast.parse(expression.strip(), mode="eval")
    for node in ast.walk(tree):
        name = getattr(node, "attr", None) or getattr(node, "id", None) or ""
        hidden = name.startswith("_" if isinstance(node, ast.Attribute) else "__")
        if hidden or (isinstance(node, ast.Attribute) and name in INNER):
            raise Refusal(f"the expression {expression.strip()[:80]!r} uses {name!r}, which is not allowed")
    names["__builtins__"] = {} if names else {name: getattr(builtins, name) for name in HARMLESS}
    return eval(compile(tree, "<expression>", "eval"), names, values)


class _Guard:
    """Restricts the process to computing and to reading files in given folders."""

    def __init__(self, folders: list[str], linked: list[str]) -> None:
        self.real = [os.path.realpath(folder).rstrip(os.sep) + os.sep for folder in folders]
        self.linked = [os.path.normpath(folder).rstrip(os.sep) + os.sep for folder in linked]
        self.refused = ""

    def check(self, event: str, details: tuple[Any, ...]) -> None:
        if event in SILENT or event.startswith("object."):
            return
        if event == "open" and isinstance(details[0], str) and not details[2] & WRITING:
            allowed = self._allowed(details[0])
            what = f"reads {details[0]!r}, outside the model's folder and packages; allow its folder with folders=[...]"
        elif event in LISTED:
            allowed, what = self._allowed(os.path.join(str(details[0]), "x")), f"lists {details[0]!r}"  # noqa: PTH118
        else:
            allowed, what = False, f"does something that no model needs ({event})"
        if not allowed:
            self.refused = self.refused or what
            raise Refusal(what)

    def _allowed(self, path: str) -> bool:
        real, plain = os.path.realpath(path), os.path.normpath(os.path.abspath(path))  # noqa: PTH100
        return any(real.startswith(f) for f in self.real) or any(plain.startswith(f) for f in self.linked)


if __name__ == "__main__":
    main()
