"""The command layer: one motion laid over another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from .commands import command, flag, operand, takes, writes
from .console import print_json, writing
from .options import AsJson, JointNames, PartNames, split_words
from .output import save_clip
from .reading import FileOptions


@command(
    "layer human:floating human:floating -o both.bvh --parts right_arm --fade 0.2",
    "layer panda panda -o nod.npz --joints panda_joint6 --additive --weight 0.5",
)
def layer(
    base: Annotated[str, operand("BASE", "Base motion: a file, or a ready-made model.")],
    over: Annotated[str, operand("OVER", "Motion to lay over it, of the same body.")],
    output: Annotated[Path, writes("Combined motion to write.")],
    base_clip: Annotated[str | None, takes("NAME", "Motion of BASE, if it has several.")] = None,
    over_clip: Annotated[str | None, takes("NAME", "Motion of OVER, if it has several.")] = None,
    parts: PartNames = None,
    joints: JointNames = None,
    weight: Annotated[float, takes("SHARE", "Weight of OVER, 0 to 1.")] = 1.0,
    additive: Annotated[bool, flag("--additive", "Add the change of OVER from its first pose.")] = False,
    start: Annotated[float, takes("SECONDS", "Start of OVER, after the start of BASE.")] = 0.0,
    fade: Annotated[float, takes("SECONDS", "Time to fade in and out.")] = 0.0,
    *,
    reading: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Lay one motion over another, in parts of a body or in joints.

    The result has the times of BASE. Before OVER starts and after it ends, BASE is played. Without --parts and
    --joints, OVER covers all joints except the root.
    """
    from .. import formats, retargeting

    below, above = reading.motion(base, clip=base_clip), reading.motion(over, clip=over_clip)
    chosen = retargeting.joints_of(below.linkage, split_words(parts), split_words(joints))
    both = retargeting.layer(
        below, above, joints=chosen, weight=weight, additive=additive, start=start, fade=fade
    )  # fmt: skip
    with writing(output, formats.suffixes("clips", "writes")) as path:
        save_clip(both, path)
    if as_json:
        print_json({"output": str(output), "frames": len(both), "seconds": both.duration, "joints": list(chosen)})
    elif str(output) != "-":
        print(f"{output}: {len(both)} frames, {both.duration:.4g} s; {len(chosen)} joints laid over {Path(base).stem}")
