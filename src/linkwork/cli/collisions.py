"""The command collisions: collisions in a pose or a motion, and the pairs that are checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from click.exceptions import Exit

from ..errors import OptionError
from .commands import command, flag, operand, takes, writes
from .console import NOT_DONE, print_columns, print_json, say, writing
from .options import AsJson, ClipName, MoverName, PoseOptions
from .parsing import is_file
from .reading import FileOptions, WorldOptions, read_length

if TYPE_CHECKING:
    from ..collision.clearance import NearPair
    from ..collision.obstacles import World
    from ..collision.pair_table import PairTable
    from ..linkage.linkage import Linkage
    from ..motion.clips import Clip
    from ..transforms import FloatArray

MOST_LISTED = 20  # pairs that are printed; --json prints all
WITHIN = "10cm"


@command(
    "collisions panda --pose ready",
    "collisions panda --pose ready --within 30cm --json",
    "collisions panda --pairs",
)
def collisions(
    model: Annotated[str, operand("FILE", "A linkage or motion file, or a ready-made model.")],
    *,
    pose: PoseOptions,
    clip: ClipName = None,
    linkage: MoverName = None,
    around: WorldOptions,
    within: Annotated[str, takes("LENGTH", "List pairs nearer than this, for a pose.")] = WITHIN,
    bones: Annotated[str | None, takes("LENGTH", "Radius of bones, for links without shapes: 4cm.")] = None,
    pairs: Annotated[bool, flag("--pairs", "List the pairs of links that are checked, and why.")] = False,
    samples: Annotated[int | None, takes("N", "With --pairs: find pairs again from N random poses.", least=1)] = None,
    output: Annotated[
        Path | None, writes("With --pairs: SRDF file of the pairs that are not checked.", "FILE.srdf")
    ] = None,
    reading: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Find collisions in a pose, or in every frame of a motion.

    A FILE with a motion is checked frame by frame, unless joint values or --pose give one pose. A pair collides if it
    is nearer than --margin, 0 by default. Exits with 0 if there is no collision, and with 1 otherwise.

    A linkage without shapes, as from a BVH file, gets capsules along its bones, with a radius of 0.16 of their length.

    --pairs lists every pair of links and whether it is checked. Not checked are neighbours, links fixed to each other,
    pairs that touch in every pose and pairs that an SRDF file disables.
    """
    if (samples is not None or output is not None) and not pairs:
        raise OptionError("--samples and -o belong to --pairs, which lists the pairs of links")
    world, motion = around.read_world(reading), None
    if not pairs and not pose.values and pose.stored is None and is_file(model):
        motion = _motion(model, reading, clip, linkage)
    elif clip is not None or linkage is not None:
        raise OptionError("--clip and --linkage are for a motion; --pairs and a pose look at the linkage alone")
    if motion is not None:
        touched = _of_motion(model, _with_shapes(motion.linkage, bones), motion, world, around, as_json)
        raise Exit(NOT_DONE if touched else 0)
    one = _with_shapes(reading.model(model), bones)
    if pairs:
        _pairs(one, world, samples, output, as_json)
        return
    q, limit = pose.read(one), read_length("--within", within)
    if q.ndim > 1:
        raise OptionError(f"collisions checks one pose, got {len(q)} on stdin")
    raise Exit(NOT_DONE if _of_pose(one, q, world, around, limit, as_json) else 0)


def _motion(model: str, reading: FileOptions, clip: str | None, linkage: str | None) -> Clip | None:
    """Return the motion of a file; None if it holds only a linkage."""
    from .. import formats

    if clip is None and linkage is None and not formats.read(model, reading.read()).clips:
        return None
    return reading.motion(model, clip=clip, linkage=linkage)


def _with_shapes(linkage: Linkage, bones: str | None) -> Linkage:
    """Return a linkage with shapes: its own, or capsules along its bones if it has none."""
    from ..collision.bone_shapes import thick_bones

    if any(node.visuals for node in linkage.nodes):
        if bones is not None:
            raise OptionError(f"--bones is for linkages without shapes; {linkage.name!r} has some")
        return linkage
    if bones is None:
        say(f"{linkage.name} has no shapes; its bones count as capsules, 0.16 of their length in radius (--bones).")
    return thick_bones(linkage, None if bones is None else read_length("--bones", bones))


def _of_pose(
    linkage: Linkage, q: FloatArray, world: World | None, around: WorldOptions, within: float, as_json: bool
) -> bool:
    """Print the pairs that are near in a pose; return whether any is nearer than the margin."""
    from ..collision.clearance import clearance

    margin = around.read_margin(0.0)
    near = clearance(linkage, q, world, self=not around.alone)
    listed = clearance(linkage, q, world, self=not around.alone, within=max(within, margin)).all
    touched = near.distance < margin
    if as_json:
        nearest = None if near.pair is None else {"names": list(near.pair), "distance": near.distance}
        found = [{"names": list(one.names), "distance": one.distance, "points": one.points.tolist()} for one in listed]
        print_json({"collides": bool(touched), "margin": margin, "nearest": nearest, "pairs": found})
        return bool(touched)
    print(f"{linkage.name}: {_in_words(near.pair, near.distance, margin)}")
    rows = [(*one.names, f"{1000.0 * one.distance:.4g}", _word(one.distance, margin)) for one in listed[:MOST_LISTED]]
    if rows:
        print_columns([("first", "second", "distance [mm]", ""), *rows])
    if len(listed) > MOST_LISTED:
        print(f"and {len(listed) - MOST_LISTED} more; --json lists them all")
    return bool(touched)


def _in_words(pair: tuple[str, str] | None, distance: float, margin: float) -> str:
    if pair is None:
        return "no pair can touch"
    state = "touch" if distance < 0.0 else "are nearer than the margin" if distance < margin else "are the nearest"
    how = f"{-1000.0 * distance:.4g} mm deep" if distance < 0.0 else f"{1000.0 * distance:.4g} mm apart"
    return f"{pair[0]} and {pair[1]} {state}, {how}"


def _word(distance: float, margin: float) -> str:
    return "touch" if distance < 0.0 else "too near" if distance < margin else ""


@dataclass(frozen=True)
class TouchedPair:
    """A pair that touches in a motion: the frames, the least distance, and its frame."""

    names: tuple[str, str]
    frames: tuple[int, ...]
    worst: float
    at: int

    @property
    def spans(self) -> str:
        """The frames as spans: ``3-7, 12``."""
        starts = [k for i, k in enumerate(self.frames) if i == 0 or k != self.frames[i - 1] + 1]
        ends = [k for i, k in enumerate(self.frames) if k + 1 not in self.frames[i + 1 : i + 2]]
        spans = [str(a) if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=True)]
        return ", ".join(spans[:6]) + (f" and {len(spans) - 6} more" if len(spans) > 6 else "")


def touched_pairs(near: Iterable[NearPair]) -> list[TouchedPair]:
    """Return the near pairs of a motion, the deepest first."""
    found: dict[tuple[str, str], list[NearPair]] = {}
    for one in near:
        found.setdefault(one.names, []).append(one)
    rows = []
    for names, hits in found.items():
        worst = min(hits, key=lambda one: one.distance)
        rows.append(TouchedPair(names, tuple(one.index[0] for one in hits), worst.distance, worst.index[0]))
    return sorted(rows, key=lambda row: row.worst)


def _of_motion(
    title: str, linkage: Linkage, clip: Clip, world: World | None, around: WorldOptions, as_json: bool
) -> bool:
    """Print the pairs that touch in a motion; return whether there are any."""
    from ..collision.clearance import clearance

    margin = around.read_margin(0.0)
    rows = touched_pairs(clearance(linkage, clip.poses, world, self=not around.alone, within=margin).all)
    frames = {frame for row in rows for frame in row.frames}
    if as_json:
        data: list[dict[str, Any]] = [
            {"names": list(row.names), "frames": list(row.frames), "worst": row.worst, "at": row.at} for row in rows
        ]
        print_json({"file": title, "frames": len(clip), "margin": margin, "colliding": len(frames), "pairs": data})
        return bool(rows)
    print(f"{title}: {clip.linkage.name}, {len(clip)} frames, {clip.duration:.3g} s")
    if not rows:
        print("nothing touches" if margin <= 0.0 else f"nothing is nearer than {1000.0 * margin:.4g} mm")
        return False
    print(f"{len(frames)} of {len(clip)} frames touch")
    shown = [(*r.names, r.spans, f"{1000.0 * r.worst:.4g}", str(r.at)) for r in rows[:MOST_LISTED]]
    print_columns([("first", "second", "frames", "least distance [mm]", "at frame"), *shown])
    if len(rows) > MOST_LISTED:
        print(f"and {len(rows) - MOST_LISTED} more; --json lists them all")
    return True


def _pairs(linkage: Linkage, world: World | None, samples: int | None, output: Path | None, as_json: bool) -> None:
    """Print which pairs are checked, and write an SRDF file of the others."""
    from ..collision.pair_table import find_pairs, pairs

    table: PairTable = pairs(linkage, world) if samples is None else find_pairs(linkage, samples=samples)
    if output is not None:
        from ..formats.srdf_writer import save_srdf

        own = {row.names for row in table if row.names[1] in linkage.links}
        left = {names: why for names, why in table.disabled(never=samples is not None).items() if names in own}
        with writing(output, (".srdf",)) as path:
            save_srdf(linkage.replace(disabled_pairs=left), path)
    if as_json:
        keys = ("counts", "reason", "text")
        rows = [{"names": list(row.names), **{key: getattr(row, key) for key in keys}} for row in table]
        print_json({"counted": len(table.counted), "samples": table.samples, "seed": table.seed, "pairs": rows})
        return
    print(f"{linkage.name}: {len(table.counted)} of {len(table)} pairs are checked")
    rows_shown = [(*row.names, "yes" if row.counts else "no", row.text) for row in table]
    print_columns([("first", "second", "checked", "why"), *rows_shown])
