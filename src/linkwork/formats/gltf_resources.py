"""The buffers and images of a copied glTF file.

In a GLB file, everything is stored inside. A glTF file in another folder gets copies of the files beside the original;
one in the same folder refers to the same files.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote, unquote

from ..errors import FormatError
from .atomic_files import read_bytes, replacing
from .content import Remarks
from .file_parts import pieces_of
from .gltf_data import MAX_BINARY, GltfSource
from .gltf_packing import Packing, data_uri
from .options import FilePath
from .spool import DataUri, Spool
from .texts import TextFile

MAX_BESIDE = 2**30  # bytes of all files beside a model together
KINDS = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"RIFF": "image/webp", b"\xabKTX": "image/ktx2"}


class Resources:
    """Transfers the files that a document refers to.

    Args:
        source: The file that was read.
        document: Its JSON, changed in place.
        path: The file to write.
        remarks: Remarks on missing files are added to this.
    """

    def __init__(self, source: GltfSource, document: dict[str, Any], path: FilePath, remarks: Remarks) -> None:
        self.source, self.document, self.path, self.remarks = source, document, path, remarks
        self.folder = Path(os.path.realpath(path)).parent
        self.stays = not isinstance(source.path, TextFile) and self.folder == Path(os.path.realpath(source.path)).parent
        self.packs = PurePath(path).suffix.lower() != ".gltf"
        self.buffers: list[Any] = document.setdefault("buffers", [])
        self.left = MAX_BESIDE
        self.copies: dict[Path, bytes] = {}
        first = self.buffers[0] if self.buffers else None
        if first is not None and "uri" not in first and source.binary is not None:
            self.packing = Packing(document, path, binary=pieces_of(source.binary))
        elif first is not None and "uri" in first and self.packs:
            self.packing = Packing(document, path, binary=pieces_of(source.buffer(0)))
            del first["uri"]
        else:
            self.packing = Packing(document, path, buffer=len(self.buffers))
            self.buffers.append({"byteLength": 0})

    def settled(self) -> Spool | None:
        """Transfer all files, write copies, and return the bytes of the first buffer; None if they are elsewhere."""
        for image in self.document.get("images", []):
            self._bring(image, is_image=True)
        for buffer in self.buffers:
            self._bring(buffer, is_image=False)
        for target, data in self.copies.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            with replacing(target) as file:
                file.write(data)
        packing = self.packing
        own = self.buffers[packing.buffer]
        own["byteLength"] = len(packing.binary)
        if packing.buffer or not self.packs:  # a data URI: only the first buffer can be the binary chunk
            own["uri"] = DataUri(packing.binary)
            return None
        return packing.binary

    def _bring(self, entry: dict[str, Any], *, is_image: bool) -> None:
        """Adapt a reference to a file beside the original to the new file."""
        uri = entry.get("uri")
        packs = self.packs and not (self.stays and self.source.binary is not None)
        if not isinstance(uri, str) or uri.startswith("data:") or (self.stays and not packs):
            return
        try:
            data = read_bytes(self.source.beside(uri), MAX_BINARY)
        except FormatError as error:
            what = f"{unquote(uri)[:80]!r} is not copied"
            self.remarks.add("missing-file", f"{what}: {error}", uri[:80])
            return
        self.left -= len(data)
        if self.left < 0:
            raise FormatError(self.source.path, f"refers to more than {MAX_BESIDE // 2**20} MiB in files beside it.")
        if not packs:
            entry["uri"] = self._copied(uri, data)
        elif is_image:
            kind = next((kind for mark, kind in KINDS.items() if data.startswith(mark)), "")
            entry.setdefault("mimeType", kind or "application/octet-stream")
            entry["bufferView"] = self.packing.view(data)
            del entry["uri"]
        else:
            entry["uri"] = data_uri(data)

    def _copied(self, uri: str, data: bytes) -> str:
        """Plan a copy beside the new file and return its URI: the same, or only the file name if it leads out."""
        name = PurePath(unquote(uri))
        if ".." in name.parts:
            name, uri = PurePath(name.name), quote(name.name)
        target = self.folder / name
        taken = self.copies.get(target)
        if taken is None and target.exists():
            taken = read_bytes(target, MAX_BINARY)
        if taken is not None and taken != data:
            raise FormatError(self.path, f"needs {str(name)!r} beside it, but a different file of that name exists.")
        if taken is None:
            self.copies[target] = data
        return uri
