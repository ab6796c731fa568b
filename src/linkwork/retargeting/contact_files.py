"""Read and write files of contacts: which frame is planted from when to when. They can be edited by hand."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from ..errors import FormatError, OptionError
from ..formats import yaml_json
from ..formats.atomic_files import read_text, write_text
from ..motion.contacts import Contact

FIELDS = ("frame", "start", "end")


def read_contacts(path: str | os.PathLike[str]) -> list[Contact]:
    """Return the contacts of a file that `write_contacts` wrote, YAML or JSON.

    Raises:
        FormatError: If it is not a list of contacts.
    """
    content = yaml_json.read(read_text(path), path, "yaml")
    if not isinstance(content, Sequence) or isinstance(content, str):
        raise FormatError(path, "is not a list of contacts: each has a frame, a start and an end in seconds.")
    result = []
    for k, row in enumerate(content):
        if not isinstance(row, Mapping) or set(row) != set(FIELDS) or not isinstance(row["frame"], str):
            raise FormatError(path, f"contact {k} must have exactly a frame, a start and an end, got {row!r}.")
        try:
            result.append(Contact(row["frame"], row["start"], row["end"]))
        except OptionError as error:
            raise FormatError(path, f"contact {k}: {error}") from error
    return result


def write_contacts(path: str | os.PathLike[str], contacts: Sequence[Contact]) -> None:
    """Write contacts to a file: JSON if its name ends in .json, otherwise YAML."""
    kind = "json" if str(path).lower().endswith(".json") else "yaml"
    write_text(path, yaml_json.write([asdict(contact) for contact in contacts], kind))
