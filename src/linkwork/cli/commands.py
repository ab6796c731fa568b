"""Commands from plain functions: annotations say what stands on the command line, docstrings are the help.

A function is made a command when it is asked for, by its name or for the list of all; see `build`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import click

HELP_NAMES = {"help_option_names": ["-h", "--help"]}
TYPES = {str: click.STRING, int: click.INT, float: click.FLOAT, Path: click.Path(path_type=Path)}
RANGES: dict[type, Callable[..., click.ParamType[Any]]] = {int: click.IntRange, float: click.FloatRange}
NOTHING = (inspect.Parameter.empty, MISSING)  # in place of a default: it must be given

Function = TypeVar("Function", bound=Callable[..., None])
EXAMPLES: dict[Callable[..., None], str] = {}  # how the help of each command ends


# What a function says about itself


@dataclass(frozen=True)
class Word:
    """What stands on the command line for one value.

    Args:
        metavar: What it is called in the help.
        text: What it is for.
        names: Of an option; its parameter's by default.
        in_place: Whether it is known by its place, not by a name.
        least: The least that a number may be.
        most: The most.
    """

    metavar: str | None
    text: str
    names: tuple[str, ...] = ()
    in_place: bool = False
    least: float | None = None
    most: float | None = None


def flag(name: str, text: str) -> Word:
    """Return an option that is given or not."""
    return Word(None, text, (name,))


def takes(metavar: str, text: str, *names: str, least: float | None = None, most: float | None = None) -> Word:
    """Return an option with a value."""
    return Word(metavar, text, names, least=least, most=most)


def writes(text: str, metavar: str = "FILE") -> Word:
    """Return the option that says where to write."""
    return takes(metavar, text, "--output", "-o")


def operand(metavar: str, text: str) -> Word:
    """Return what stands without a name."""
    return Word(metavar, text, in_place=True)


def examples(*lines: str) -> str:
    """Return the end of a command's help: lines that can be typed as they stand."""
    return "\b\nExample:\n" + "\n".join(f"  $ linkwork {line}" for line in lines)


def command(*lines: str) -> Callable[[Function], Function]:
    """Return the decorator of a function that is a command: its help ends with lines to type."""

    def known(function: Function) -> Function:
        EXAMPLES[function] = examples(*lines)
        return function

    return known


# What is made of it


class Operand(click.Argument):
    """What stands without a name, with a line in the help as options have one."""

    def __init__(self, *args: Any, text: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self.text = text

    def make_metavar(self, ctx: click.Context) -> str:  # noqa: ARG002  # as click calls it
        """Return how it stands in the usage."""
        name = self.metavar if self.required else f"[{self.metavar}]"
        return f"{name}{'...' * (self.nargs == -1)}"

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:  # noqa: ARG002
        """Return its name and what it is for."""
        rule = "  [required]" if self.required else f"  [default: {self.default}]" if self.default else ""
        return self.metavar or "", f"{self.text}{rule}"


class HelpText(click.HelpFormatter):
    """Help whose left column leaves half of a narrow terminal to the right one."""

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write names and what they are for."""
        super().write_dl(rows, min(col_max, self.width // 2), col_spacing)


class Context(click.Context):
    """What click knows while it runs a command."""

    formatter_class = HelpText


class Command(click.Command):
    """A command whose help says what stands without a name, too."""

    context_class = Context

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what it takes: by place, then by name."""
        records = [one.get_help_record(ctx) for one in self.params if isinstance(one, Operand)]
        if records:
            with formatter.section("Arguments"):
                formatter.write_dl(records)
        super().format_options(ctx, formatter)


def build(function: Callable[..., None]) -> click.Command:
    """Return the command of a function; what it takes as a group, a dataclass, people give field by field."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[click.Parameter] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name not in groups:
            parameters.append(_parameter(parameter.name, hints[parameter.name], parameter.default))
            continue
        group = groups[parameter.name]
        kinds = get_type_hints(group, include_extras=True)
        parameters += [_parameter(field.name, kinds[field.name], field.default) for field in fields(group)]

    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        function(**given)

    return Command(
        function.__name__,
        callback=run,
        params=parameters,
        help=function.__doc__,
        epilog=EXAMPLES[function],
        context_settings=HELP_NAMES,
    )


def _parameter(name: str, hint: Any, default: Any) -> click.Parameter:
    """Return what click reads one value with, from its annotation and its default."""
    if get_origin(hint) is not Annotated:
        raise TypeError(f"the annotation of {name!r} says nothing of the command line, got {hint!r}")
    kind, word = get_args(hint)
    if NoneType in get_args(kind):
        kind = next(one for one in get_args(kind) if one is not NoneType)
    many, needed = get_origin(kind) is list, any(default is one for one in NOTHING)
    kind = get_args(kind)[0] if many else kind
    rules: dict[str, Any] = {"metavar": word.metavar, "required": needed} | ({} if needed else {"default": default})
    if many:
        rules["callback"] = lambda _context, _parameter, values: list(values) or None
    if word.least is not None or word.most is not None:
        rules["type"] = RANGES[kind](word.least, word.most)
    elif kind is bool:
        rules["is_flag"] = True
    else:
        rules["type"] = TYPES[kind]
    if word.in_place:
        return Operand([name], text=word.text, nargs=-1 if many else 1, **rules)
    names = word.names or (f"--{name.replace('_', '-')}",)
    shown = not (needed or kind is bool or default is None)
    return click.Option([name, *names], help=word.text, multiple=many, show_default=shown, **rules)
