"""The command markers: a linkage that follows captured markers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..errors import FormatError, OptionError
from .commands import command, operand, takes, writes
from .console import print_json, say, writing
from .options import AsJson, To
from .output import save_clip
from .reading import FileOptions

if TYPE_CHECKING:
    from ..linkage.linkage import Linkage
    from ..motion.markers import Markers

HEAD = """# The link or frame of each marker. Remove a # to use a marker.
# {frame: shin, at: [0, 0.05, 0]} gives the marker's position on it, in metres; otherwise it is estimated.
"""


@command("markers walk.trc --to human:floating --map map.yaml -o walk.bvh")
def markers(
    file: Annotated[str, operand("FILE", "Captured markers: .c3d or .trc.")],
    to: To,
    output: Annotated[Path | None, writes("Motion to write.")] = None,
    map_file: Annotated[Path | None, takes("FILE", "YAML file: which marker is on which link.", "--map")] = None,
    write_map: Annotated[Path | None, takes("FILE", "Write a map to fill in, with all markers and links.")] = None,
    *,
    reading: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Make a linkage follow captured markers.

    Finds the poses whose points come closest to all markers together.

    --map says which marker is on which link; --write-map writes a map to fill in. Where a marker is missing, the others
    bridge the gap. The linkage is not scaled: choose one with the proportions of the person, such as human:1.68.
    """
    from .. import formats, load_markers, solve_markers

    options = reading.of_motion.read()
    found, linkage = load_markers(file, units=options.units, up=options.up), reading.of_model.model(to)
    for remark in found.remarks:
        say(str(remark))
    if write_map is not None:
        _write_map(write_map, found, linkage)
    if map_file is None or output is None:
        if write_map is not None:
            return
        raise OptionError("markers needs -o, and a --map of which marker is on which link (--write-map writes one)")
    fit = solve_markers(linkage, found, _read_map(map_file))
    with writing(output, formats.suffixes("clips", "writes")) as path:
        save_clip(fit.clip, path)
    if as_json:
        places = {name: [float(value) for value in place] for name, place in fit.offsets.items()}
        print_json({"output": str(output), "frames": len(fit.clip), "offsets": places})
    else:
        print(f"{output}: {len(fit.clip)} frames, {fit.clip.duration:.4g} s\n{fit.report()}")


def _read_map(path: Path) -> dict[str, Any]:
    """Return the frame of each marker, with its position there if the map gives it."""
    from ..formats import yaml_json
    from ..formats.atomic_files import read_text

    content = yaml_json.read(read_text(path), path, "yaml")
    if not isinstance(content, Mapping) or not content:
        raise FormatError(path, "maps no markers; it needs lines such as LKNE: left_shin.")
    result: dict[str, Any] = {}
    for name, sits in content.items():
        if isinstance(sits, Mapping) and set(sits) == {"frame", "at"}:
            result[str(name)] = (sits["frame"], sits["at"])
        elif isinstance(sits, str):
            result[str(name)] = sits
        else:
            raise FormatError(path, f"marker {name!r} needs a link or {{frame: ..., at: [x, y, z]}}, got {sits!r}.")
    return result


def _write_map(path: Path, found: Markers, linkage: Linkage) -> None:
    """Write a map to fill in."""
    from ..formats import yaml_json
    from ..formats.atomic_files import write_text

    rows = [f"# {yaml_json.write({name: 'LINK'}, 'yaml').strip()}" for name in found.names]
    write_text(path, "\n".join([f"{HEAD}# Links and frames: {', '.join(linkage.frames)}", *rows]) + "\n")
