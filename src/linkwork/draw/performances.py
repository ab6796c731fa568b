"""Five motions on five bodies: motions of a human and a dog, retargeted to a child, a skinned character and a robot.

There is one film for each motion, with its bodies side by side. The bodies are made here; the character is written to a
file and read again, like one from another program.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from .. import formats
from ..linkage.linkage import Linkage
from ..models.animals import quadruped
from ..models.characters import write_character
from ..models.exercises import EXERCISES, trot_across
from ..models.humanoids import humanoid
from ..models.humans import human
from ..motion.clips import Clip
from ..retargeting import retarget
from .films import film

SIZE = (1.8, 2.3)  # of one body [inch]
WIDE = (3.4, 2.3)
VIEW = (14.0, -42.0)
TROT = "trot"
BODIES = ("human", "child", "character", "robot")  # of all motions but the trot, which is a dog's


def bodies() -> dict[str, Linkage]:
    """Return the bodies that a human's motions are given to, by name."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "character.glb")
        write_character(path)
        character = formats.loads(path.read_bytes(), "glb")
    return {"child": human(height=1.15, root="floating"), "character": character, "robot": humanoid(root="floating")}


def performances() -> Iterator[tuple[str, dict[str, Clip]]]:
    """Yield five motions by name, each as clips of bodies by name."""
    actor, others = human(root="floating"), bodies()
    for name, exercise in EXERCISES.items():
        clip = exercise(actor)
        yield name, {"human": clip, **{body: retarget(clip, other) for body, other in others.items()}}
    yield TROT, {"dog": trot_across(quadruped(root="floating"))}


def films(
    clips: dict[str, Clip], *, fps: float, progress: Callable[[float], None] | None = None
) -> Iterator[tuple[str, bytes]]:
    """Yield a GIF for each body of a performance, with its name; `progress` is called with the completed fraction."""
    with tempfile.TemporaryDirectory() as folder:
        for k, (body, clip) in enumerate(clips.items()):
            path = Path(folder, f"{k}.gif")
            film(clip, path, fps=fps, follow=True, view=VIEW, size=SIZE if len(clips) > 1 else WIDE)
            yield body, path.read_bytes()
            if progress is not None:
                progress((k + 1) / len(clips))
