"""Read and write YAML and JSON documents as plain values, strictly and with all digits of numbers.

Plain values are dict, list, str, bool, None, int and finite float. YAML is read from the events of a safe loader, so
that it cannot create objects, refer to itself or repeat a key.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import yaml

from ..errors import FormatError, LinkageError

KINDS = ("yaml", "json")
MAX_DEPTH = 32
WIDTH = 100
LONGEST_KEY = 512  # YAML allows keys of up to 1024 characters without a question mark before them

Path = tuple[str | int, ...]

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|nan)", re.IGNORECASE)
_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "~": None, "": None}
_UNREADABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HALVES = re.compile(r"\\u[dD][89a-fA-F]")  # JSON writes some characters as surrogate pairs; half a pair is invalid
_PLAIN = re.compile(r"[^\W\d][\w./-]*(?: [\w./-]+)*|-?\d+(?:\.\d+)?deg")
_QUOTED_WORDS = {"yes", "no", "on", "off", "true", "false", "null"}  # other readers do not read these as text


class _RefusedError(ValueError):
    """Invalid input that Python's JSON reader would accept."""


def read(text: str, where: object, kind: str) -> Any:
    """Return the plain values of a document.

    Args:
        text: The document.
        where: Its name in error messages.
        kind: ``"yaml"`` or ``"json"``.

    Example:
        >>> read("{at: [0, 1e-5], name: yes}", "note", "yaml")
        {'at': [0, 1e-05], 'name': 'yes'}
    """
    _check_kind(kind, where)
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        raise FormatError(where, "contains a NUL byte: this is not a text file.", line=_line_at(text, text.index("\0")))
    if not text.strip():
        raise FormatError(where, "is empty.")
    value = _YamlReader(text, where).document() if kind == "yaml" else _read_json(text, where)
    if value is None:
        raise FormatError(where, "has no content.")
    return value


def write(value: Any, kind: str) -> str:
    """Return a document of plain values, with vectors and short mappings on one line each.

    Example:
        >>> print(write({"name": "arm", "at": [0.0, -0.0, 1e-5]}, "yaml"), end="")
        name: arm
        at: [0, -0.0, 1.0e-05]
    """
    _check_kind(kind, "document")
    lines = _yaml_block(value, 0) if kind == "yaml" else _json_block(value, 0)
    return "\n".join(lines) + "\n"


def line_of(text: str, path: Path) -> int | None:
    """Return the first line of the value at a path in YAML or JSON, or of the nearest enclosing value."""
    lines: dict[tuple[int, str | int], int] = {}
    try:
        value = _YamlReader(text.removeprefix("\ufeff"), "", lines).document()
    except FormatError:  # JSON that is not YAML: no line numbers
        return None
    line = None
    for step in path:
        line = lines.get((id(value), step), line)
        try:
            value = value[step]
        except (LookupError, TypeError):
            break
    return line


def _check_kind(kind: str, where: object) -> None:
    if kind not in KINDS:
        raise FormatError(where, f"a document must be {' or '.join(map(repr, KINDS))}, got {kind!r}.")


def _line_at(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


# Reading


def _number(text: str) -> float | int:
    """Return a number, as an integer if it is written as one and a float can represent it exactly."""
    if len(text) <= 15 and text.lstrip("+-").isdigit():
        return int(text)
    value = float(text)
    if not math.isfinite(value):
        raise _RefusedError(f"{text if len(text) < 40 else text[:37] + '...'} is too large for a number.")
    return value


class _YamlReader:
    """Builds plain values from the events of YAML's safe loader."""

    def __init__(self, text: str, where: object, lines: dict[tuple[int, str | int], int] | None = None) -> None:
        self.text, self.where, self.lines = text, where, lines

    def document(self) -> Any:
        """Return the single document of the text; None if there is none."""
        unreadable = _UNREADABLE.search(self.text)
        if unreadable:
            line = _line_at(self.text, unreadable.start())
            raise FormatError(self.where, f"contains the control character {unreadable[0]!r}.", line=line)
        self.events: Iterator[Any] = yaml.parse(self.text, Loader=_LOADER)
        try:
            return self._one_document()
        except yaml.YAMLError as error:
            mark: Any = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
            said = [getattr(error, name, None) for name in ("context", "problem", "reason")]
            message = ", ".join(part for part in said if part)
            raise FormatError(self.where, f"not YAML: {message}.", line=mark.line + 1 if mark else None) from error

    def _one_document(self) -> Any:
        next(self.events)  # start of the stream
        if not isinstance(next(self.events), yaml.DocumentStartEvent):
            return None
        value = self._value(next(self.events), 1)
        next(self.events)  # end of the document
        after = next(self.events)
        if isinstance(after, yaml.DocumentStartEvent):
            self._refuse(after, "a second document begins here; only one per file is read")
        return value

    def _keep_line(self, owner: Any, key: str | int, event: Any) -> None:
        if self.lines is not None:
            self.lines[id(owner), key] = event.start_mark.line + 1

    def _refuse(self, event: Any, message: str) -> NoReturn:
        raise FormatError(self.where, f"{message}.", line=event.start_mark.line + 1)

    def _check(self, event: Any) -> None:
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            self._refuse(event, f"anchors and aliases ({event.anchor!r}) are not supported; write the value out")
        if event.tag is not None:
            self._refuse(event, f"the tag {event.tag!r} is not supported; remove it")

    def _value(self, event: Any, depth: int) -> Any:
        self._check(event)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if depth > MAX_DEPTH:
            self._refuse(event, f"nested deeper than {MAX_DEPTH} levels")
        return self._list(depth) if isinstance(event, yaml.SequenceStartEvent) else self._mapping(depth)

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        if not event.implicit[0]:  # quoted
            return text
        if text in _WORDS:
            return _WORDS[text]
        if _NOT_FINITE.fullmatch(text):
            self._refuse(event, f"{text} is not a finite number; for no limit, leave it out or write null")
        if _NUMBER.fullmatch(text):
            try:
                return _number(text)
            except _RefusedError as error:
                self._refuse(event, str(error).rstrip("."))
        return text

    def _list(self, depth: int) -> list[Any]:
        result: list[Any] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            self._keep_line(result, len(result), event)
            result.append(self._value(event, depth + 1))
        return result

    def _mapping(self, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            self._check(event)
            if not isinstance(event, yaml.ScalarEvent):
                self._refuse(event, "the key of a mapping must be text")
            key: str = event.value  # as written: keys are always text
            if key in result:
                self._refuse(event, f"{key!r} appears twice in one mapping")
            self._keep_line(result, key, event)
            result[key] = self._value(next(self.events), depth + 1)
        return result


def _read_json(text: str, where: object) -> Any:
    try:
        value = json.loads(
            text, object_pairs_hook=_unique, parse_float=_number, parse_int=_number, parse_constant=_constant
        )
        _check_depth(value)
        if _HALVES.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise FormatError(where, f"contains {error.object[error.start]!r}, which is not a character.") from error
    except json.JSONDecodeError as error:
        raise FormatError(where, f"not JSON: {error.msg}.", line=error.lineno) from error
    except RecursionError as error:
        raise FormatError(where, f"nested deeper than {MAX_DEPTH} levels.") from error
    except _RefusedError as error:
        raise FormatError(where, str(error), line=_refused_line(text)) from error
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise _RefusedError(f"{twice!r} appears twice in one mapping.")
    return result


def _constant(text: str) -> None:
    raise _RefusedError(f"{text} is not a finite number; for no limit, leave it out or write null.")


def _check_depth(value: Any) -> None:
    level: list[Any] = [[value]]
    for _ in range(MAX_DEPTH + 1):
        inside = (item.values() if isinstance(item, dict) else item for item in level)
        level = [inner for items in inside for inner in items if isinstance(inner, dict | list)]
        if not level:
            return
    raise _RefusedError(f"nested deeper than {MAX_DEPTH} levels.")


def _refused_line(text: str) -> int | None:
    """Return the line of a refused value: most JSON is YAML, whose reader refuses the same value."""
    try:
        _YamlReader(text, "").document()
    except FormatError as error:
        return error.line
    return None


# Writing


def _yaml_block(value: Any, indent: int) -> Iterator[str]:
    """Yield the lines of a value; the first has no indent, since it follows a key or a dash."""
    margin = " " * indent
    lead = ""
    if isinstance(value, list):
        for item in value:
            text = _inline(item, "yaml", WIDTH - indent - 2)
            lines = _yaml_block(item, indent + 2) if text is None else iter([text])
            yield f"{lead}- {next(lines)}"
            yield from lines
            lead = margin
        return
    for key, item in value.items():
        name = _text(key, "yaml")
        text = _inline(item, "yaml", WIDTH - indent - len(name) - 2)
        if len(name) > LONGEST_KEY:
            yield f"{lead}? {name}"
            lead, name = margin, ""
        if text is None:
            yield f"{lead}{name}:"
            lines = _yaml_block(item, indent + 2)
            yield f"{margin}  {next(lines)}"
            yield from lines
        else:
            yield f"{lead}{name}: {text}"
        lead = margin


def _json_block(value: Any, indent: int) -> Iterator[str]:
    """Yield the lines of a value; the first has no indent, the last no comma."""
    text = _inline(value, "json", WIDTH - indent)
    if text is not None and indent:
        yield text
        return
    is_list = isinstance(value, list)
    names = [""] * len(value) if is_list else [_text(key, "json") + ": " for key in value]
    items = value if is_list else value.values()
    yield "[" if is_list else "{"
    for count, (name, item) in enumerate(zip(names, items, strict=True), start=1):
        *lines, last = _json_block(item, indent + 2)
        comma = "," if count < len(value) else ""
        margin = " " * (indent + 2) + name
        for line in lines:
            yield margin + line
            margin = ""
        yield f"{margin}{last}{comma}"
    yield " " * indent + ("]" if is_list else "}")


def _inline(value: Any, kind: str, room: int) -> str | None:
    """Return a value on one line; None if it is too long, or a collection of mappings."""
    if not isinstance(value, list | dict):
        return _scalar(value, kind)
    members: Sequence[Any] = value if isinstance(value, list) else list(value.values())
    if all(isinstance(item, int | float) for item in value):
        room = 2**62  # a vector is never broken
    elif any(isinstance(item, dict) for item in members):
        return None
    parts = [_inline(item, kind, room) for item in members]
    if None in parts:
        return None
    if isinstance(value, dict):
        names = [_text(key, kind) for key in value]
        if max(map(len, names), default=0) > LONGEST_KEY:
            return None
        parts = [f"{name}: {part}" for name, part in zip(names, parts, strict=True)]
    line = ", ".join(filter(None, parts))
    if len(line) + 2 > room:
        return None
    return f"[{line}]" if isinstance(value, list) else f"{{{line}}}"


def _scalar(value: Any, kind: str) -> str:
    if isinstance(value, str):
        return _text(value, kind)
    if isinstance(value, float):
        return _float(value)
    if value is None or isinstance(value, int):
        return json.dumps(value)
    raise LinkageError(f"a file can store texts and numbers, not {value!r}.")


def _float(value: float) -> str:
    """Return the shortest text that gives the same float; whole numbers without a decimal point."""
    text = float.__repr__(value)
    if text.endswith(".0") and text != "-0.0" and len(text) < 15:
        return text[:-2]
    mantissa, e, exponent = text.partition("e")
    return text if not e or "." in mantissa else f"{mantissa}.0e{exponent}"  # YAML 1.1 knows 1.0e-05, not 1e-05


def _text(value: str, kind: str) -> str:
    """Return a text, quoted unless it is a plain word in YAML; unprintable characters are escaped."""
    if kind == "yaml" and _PLAIN.fullmatch(value) and value.lower() not in _QUOTED_WORDS:
        return value
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else _escape(c, kind) for c in value) + '"'


def _escape(character: str, kind: str) -> str:
    code = ord(character)
    if 0xD800 <= code < 0xE000:
        return character  # half a surrogate pair, which the file writer refuses
    return f"\\U{code:08x}" if kind == "yaml" and code >= 0x10000 else json.dumps(character)[1:-1]
