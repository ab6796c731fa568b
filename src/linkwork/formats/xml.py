"""Read untrusted XML, with limits, as a tree of elements with line numbers.

The parser is Python's Expat. Document types are refused, so there are no entities and no other files. Names keep their
prefixes as written, whether declared or not, since robot files have both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn
from xml.parsers import expat

from ..errors import FormatError
from . import atomic_files
from .options import FilePath

MAX_BYTES = 16 * 2**20
MAX_DEPTH = 64
MAX_ELEMENTS = 50_000
MAX_ATTRIBUTES = 250_000
LONGEST_TAG = 2**20

_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)
_DECLARATION = re.compile(rb"<\?xml\b([^<>]*?)\?>")
_SOUND = re.compile(
    rb"""\s+version\s*=\s*(["'])1\.\d+\1(?:\s+encoding\s*=\s*(["'])[A-Za-z][\w.-]*\2)?"""
    rb"""(?:\s+standalone\s*=\s*(["'])(?:yes|no)\3)?\s*"""
)
_ENCODING = re.compile(rb"""\bencoding\s*=\s*["']([A-Za-z][\w.-]*)["']""")
_LONG_TAG = re.compile(rb"<[^<]{%d}" % LONGEST_TAG)  # "<" cannot occur inside a tag


def quoted(text: str) -> str:
    """Return a text as an attribute value, with quotes.

    Example:
        >>> quoted('3" & more')
        '"3&quot; &amp; more"'
    """
    return f'"{text.translate(_ESCAPES)}"'


class XmlElement:
    """An element: its tag, attributes, children, file and first line."""

    __slots__ = ("attributes", "children", "line", "path", "tag")

    def __init__(self, tag: str, attributes: Mapping[str, str], path: FilePath, line: int) -> None:
        self.tag, self.attributes, self.path, self.line = tag, attributes, path, line
        self.children: list[XmlElement] = []

    def first(self, tag: str) -> XmlElement | None:
        """Return the first child with this tag, or None."""
        return next(self.all(tag), None)

    def all(self, *tags: str) -> Iterator[XmlElement]:
        """Return all children with one of these tags, in file order."""
        return (child for child in self.children if child.tag in tags)

    def walk(self) -> Iterator[XmlElement]:
        """Yield this element and all its descendants, in file order; children removed meanwhile are skipped."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting += reversed(element.children)


@dataclass(frozen=True)
class Document:
    """An XML file.

    Args:
        root: Its root element.
        text: The bytes of the file, without leading blanks.
        blanks: Whether there are blanks before the XML declaration, which strict readers refuse.
        declaration: The XML declaration, if it is not a valid one; else empty.
        elements: Number of elements.
        rest: The line of content after the end of the root element, which is not allowed; or None.
    """

    root: XmlElement
    text: bytes
    blanks: bool = False
    declaration: str = ""
    elements: int = 0
    rest: int | None = None


def read(
    path: FilePath, *, hollow: Collection[str] = (), depth: int = MAX_DEPTH, elements: int = MAX_ELEMENTS
) -> Document:
    """Return the elements of an XML file.

    Args:
        path: The file.
        hollow: Tags of elements whose children are not kept.
        depth: Largest nesting depth.
        elements: Largest number of elements.

    Raises:
        FormatError: If it is not XML, or exceeds a limit; the message names the line.
    """
    data = atomic_files.read_bytes(path, MAX_BYTES).removeprefix(b"\xef\xbb\xbf")
    text = data.lstrip(b" \t\r\n")
    skipped = data[: len(data) - len(text)].count(b"\n")
    if not text:
        raise FormatError(path, "is empty.")
    if long := _LONG_TAG.search(text):
        line = text.count(b"\n", 0, long.start()) + skipped + 1
        raise FormatError(path, f"more than {LONGEST_TAG // 2**10} KiB without a tag.", line=line)
    tree, rest = _Tree(path, skipped, hollow, depth, elements), None
    declaration, sound = _with_sound_declaration(text)
    try:
        tree.parser.Parse(sound, True)
    except FormatError:
        raise
    except expat.ExpatError as error:
        line = error.lineno + skipped
        if not tree.ended:
            raise FormatError(path, f"not XML: {expat.ErrorString(error.code)}.", line=line) from error
        rest = line
    except (LookupError, ValueError) as error:  # it declares an unknown encoding
        raise FormatError(path, f"not XML: {error}.", line=tree.line) from error
    if tree.root is None:
        raise FormatError(path, "not XML: no element found.")
    blanks = len(text) < len(data) and text.startswith(b"<?xml")
    return Document(tree.root, text, blanks, declaration, tree.elements, rest)


def _with_sound_declaration(text: bytes) -> tuple[str, bytes]:
    """Return the XML declaration if it is not a valid one, and the text with a valid one.

    Robot files have `version="0.0"`, or no version. Whether Expat reads that depends on its version.
    """
    found = _DECLARATION.match(text)
    if found is None or _SOUND.fullmatch(found[1]):
        return "", text
    encoding = _ENCODING.search(found[1])
    sound = b'<?xml version="1.0"%s%s?>' % (
        b' encoding="%s"' % encoding[1] if encoding else b"",
        b"\n" * found[0].count(b"\n"),  # lines still count
    )
    return found[0].decode("ascii", "replace"), sound + text[found.end() :]


class _Tree:
    """Collects the elements found by the parser."""

    def __init__(self, path: FilePath, skipped: int, hollow: Collection[str], deepest: int, most: int) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler, self.parser.EndElementHandler = self.start_element, self.end_element
        self.parser.StartDoctypeDeclHandler = self.parser.EntityDeclHandler = self.refuse
        self.parser.ExternalEntityRefHandler = self.refuse
        self.path, self.skipped, self.hollow = path, skipped, hollow
        self.deepest, self.most = deepest, most
        self.root: XmlElement | None = None
        self.open: list[XmlElement] = []
        self.elements = self.attributes = 0
        self.depth = 0
        self.hidden = deepest  # depth below which nothing is kept

    @property
    def ended(self) -> bool:
        """Whether the root element is closed."""
        return self.root is not None and self.depth == 0

    @property
    def line(self) -> int:
        return int(self.parser.CurrentLineNumber) + self.skipped

    def refuse(self, *_: object) -> NoReturn:
        what = "contains a document type (<!DOCTYPE>) or entities"
        raise FormatError(self.path, f"{what}; neither is read, so remove it.", line=self.line)

    def start_element(self, name: str, attrs: Mapping[str, str]) -> None:
        self.depth += 1
        self.elements += 1
        self.attributes += len(attrs)
        if self.elements > self.most or self.attributes > MAX_ATTRIBUTES:
            most = f"{self.most:,} elements or {MAX_ATTRIBUTES:,} attributes"
            raise FormatError(self.path, f"more than {most}.", line=self.line)
        if self.depth > self.deepest:
            raise FormatError(self.path, f"nested deeper than {self.deepest} levels.", line=self.line)
        if self.depth > self.hidden:
            return
        element = XmlElement(name, attrs, self.path, self.line)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        if name in self.hollow:
            self.hidden = self.depth
        self.open.append(element)

    def end_element(self, name: str) -> None:  # noqa: ARG002  (signature of the parser)
        if self.depth <= self.hidden:
            self.open.pop()
            self.hidden = self.deepest
        self.depth -= 1
