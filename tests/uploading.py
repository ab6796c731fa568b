"""Uploads in the form that the studio's page sends."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping


def upload(files: Mapping[str, bytes], **how: object) -> bytes:
    """Return the message that uploads files, given by name."""
    head = {"files": [{"name": name, "size": len(content)} for name, content in files.items()], **how}
    text = json.dumps(head).encode()
    return struct.pack("<I", len(text)) + text + b"".join(files.values())
