"""Files: read and write linkages and motions. The suffix of the file name selects the format.

A new format needs one module here, with `read` and `write`, and one row in `registry.FORMATS`. The module is imported
when a file of this format is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import found_later

if TYPE_CHECKING:
    from ..errors import Remark as Remark
    from ..motion.clips import SaveOptions as SaveOptions
    from .atomic_files import read_bytes as read_bytes, read_text as read_text, write_text as write_text
    from .content import Content as Content
    from .files import (
        CLIP as CLIP,
        fit as fit,
        load as load,
        load_clip as load_clip,
        loads as loads,
        loads_clip as loads_clip,
        read as read,
        save as save,
        say_guesses as say_guesses,
        write as write,
    )
    from .options import Options as Options, ReadOptions as ReadOptions
    from .registry import FORMATS as FORMATS, Format as Format, suffix_of as suffix_of, suffixes as suffixes

_NAMES = {
    ".errors": "Remark",
    ".motion.clips": "SaveOptions",
    "atomic_files": "read_bytes read_text write_text",
    "content": "Content",
    "files": "CLIP fit load load_clip loads loads_clip read save say_guesses write",
    "options": "Options ReadOptions",
    "registry": "FORMATS Format suffix_of suffixes",
}
__all__ = sorted(" ".join(_NAMES.values()).split())
if not TYPE_CHECKING:
    __getattr__ = found_later(__name__, _NAMES)
