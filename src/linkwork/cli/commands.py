"""Commands from plain functions: annotations define arguments and options, docstrings are the help.

A function becomes a command when it is needed, to run it or to list it; see `build`.
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
NOTHING = (inspect.Parameter.empty, MISSING)  # instead of a default: the value is required

Function = TypeVar("Function", bound=Callable[..., None])
EXAMPLES: dict[Callable[..., None], str] = {}  # the end of each command's help


# Annotations


@dataclass(frozen=True)
class Word:
    """One argument or option of the command line.

    Args:
        metavar: Name of its value in the help.
        text: Its help text.
        names: Names of an option; by default that of its parameter.
        in_place: Whether it is a positional argument.
        least: Smallest value of a number.
        most: Largest value of a number.
    """

    metavar: str | None
    text: str
    names: tuple[str, ...] = ()
    in_place: bool = False
    least: float | None = None
    most: float | None = None


def flag(name: str, text: str) -> Word:
    """Return an option without a value."""
    return Word(None, text, (name,))


def takes(metavar: str, text: str, *names: str, least: float | None = None, most: float | None = None) -> Word:
    """Return an option with a value."""
    return Word(metavar, text, names, least=least, most=most)


def writes(text: str, metavar: str = "FILE") -> Word:
    """Return the option for the output file."""
    return takes(metavar, text, "--output", "-o")


def operand(metavar: str, text: str) -> Word:
    """Return a positional argument."""
    return Word(metavar, text, in_place=True)


def examples(*lines: str) -> str:
    """Return the end of a command's help: examples that can be typed."""
    return "\b\nExample:\n" + "\n".join(f"  $ linkwork {line}" for line in lines)


def command(*lines: str) -> Callable[[Function], Function]:
    """Return the decorator of a command function; its help ends with these example lines."""

    def known(function: Function) -> Function:
        EXAMPLES[function] = examples(*lines)
        return function

    return known


# Commands


class Operand(click.Argument):
    """A positional argument with a line in the help, as options have."""

    def __init__(self, *args: Any, text: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self.text = text

    def make_metavar(self, ctx: click.Context) -> str:  # noqa: ARG002  # as click calls it
        """Return its text in the usage line."""
        name = self.metavar if self.required else f"[{self.metavar}]"
        return f"{name}{'...' * (self.nargs == -1)}"

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:  # noqa: ARG002
        """Return its name and help text."""
        rule = "  [required]" if self.required else f"  [default: {self.default}]" if self.default else ""
        return self.metavar or "", f"{self.text}{rule}"


class HelpText(click.HelpFormatter):
    """Help whose left column takes at most half of the terminal."""

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write names and help texts."""
        super().write_dl(rows, min(col_max, self.width // 2), col_spacing)


class Context(click.Context):
    """The context of a command, with our help format."""

    formatter_class = HelpText


class Command(click.Command):
    """A command whose help lists positional arguments too."""

    context_class = Context

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write its arguments, then its options."""
        records = [one.get_help_record(ctx) for one in self.params if isinstance(one, Operand)]
        if records:
            with formatter.section("Arguments"):
                formatter.write_dl(records)
        super().format_options(ctx, formatter)


def build(function: Callable[..., None]) -> click.Command:
    """Return the command of a function; each field of a parameter that is a dataclass is an option or argument."""
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
    """Return click's parameter for one value, from its annotation and its default."""
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
