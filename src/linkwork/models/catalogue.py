"""The table of ready-made models, and `build`, which makes one from a text such as ``"planar:15,10,5"``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import LinkageError, ModelNotFoundError
from ..linkage.linkage import Linkage
from ..linkage.plugins import Table
from ..transforms import as_angle
from . import motions
from .animals import quadruped, snake
from .arms import panda, planar, scara, stanford, two_link, ur5
from .classics import bennett, klann, peaucellier, scissor
from .closed import four_bar, jansen_leg, pantograph
from .coupled import cam_follower, gear_train, geneva, planetary, scotch_yoke
from .hands import hand
from .humans import human
from .mechanisms import engine, ferris_wheel, planets, pogo_stick
from .motions import Motion
from .parallel import delta, five_bar, stewart
from .sliders import quick_return, slider_crank

if TYPE_CHECKING:
    from ..motion.clips import Clip

CATEGORIES = {"arm": "Arms", "body": "Bodies", "mechanism": "Mechanisms"}  # with headings
Reader = Callable[[Sequence[str]], dict[str, Any]]


def _arguments(**converters: Callable[[str], Any]) -> Reader:
    """Return a reader that gives each text to the first free parameter that accepts it."""

    def read(texts: Sequence[str]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for text in texts:
            for name, convert in converters.items():
                if name in result:
                    continue
                try:
                    result[name] = convert(text)
                    break
                except ValueError:
                    continue
            else:
                raise LinkageError(f"cannot use {text!r}.")
        return result

    return read


def _one_of(*words: str) -> Callable[[str], str]:
    def convert(text: str) -> str:
        if text not in words:
            raise ValueError(text)
        return text

    return convert


def _planar_lengths(texts: Sequence[str]) -> dict[str, Any]:
    """Read one whole number as a count, anything else as lengths."""
    try:
        if len(texts) == 1 and texts[0].lstrip("+-").isdigit():
            return {"lengths": int(texts[0])}
        return {"lengths": [float(text) for text in texts]} if texts else {}
    except ValueError as error:
        raise LinkageError(f"{error}.") from error


def _teeth(texts: Sequence[str]) -> dict[str, Any]:
    try:
        return {"teeth": tuple(int(text) for text in texts)} if texts else {}
    except ValueError as error:
        raise LinkageError(f"{error}.") from error


NO_ARGUMENTS = _arguments()
ROOT_KINDS = _one_of("fixed", "planar", "floating")


@dataclass(frozen=True)
class Model:
    """A row of the table of models.

    Args:
        function: Function that returns the linkage.
        category: A key of `CATEGORIES`.
        description: One line on the model.
        motion: Function that returns a short looping motion for that linkage.
        example: An example text for `build`.
        takes: A description of the arguments that may follow the name in that text.
        read: Function that converts the text after the name to arguments.
    """

    function: Callable[..., Linkage]
    category: str
    description: str
    motion: Motion
    example: str
    takes: str = "no arguments"
    read: Reader = NO_ARGUMENTS


_OWN = {
    "planar": Model(
        planar, "arm", "A planar chain of revolute joints, any number and lengths.",
        motions.through("ready", "curl", "straight"), "planar:15,10,5",
        "a number of links, or the lengths of the links", _planar_lengths,
    ),
    "two_link": Model(
        two_link, "arm", "The planar two-link arm of the textbooks.",
        motions.through("ready", "elbow-up", "straight"), "two_link:1,0.8",
        "the lengths of the upper and the lower link", _arguments(upper=float, lower=float),
    ),
    "panda": Model(
        panda, "arm", "Franka Emika Panda, seven revolute joints.",
        motions.through("ready", "reach", "pick", "look"), "panda",
    ),
    "ur5": Model(
        ur5, "arm", "Universal Robots UR5, six revolute joints.",
        motions.through("ready", "reach", "pick"), "ur5",
    ),
    "stanford": Model(
        stanford, "arm", "The Stanford arm of 1969, with a prismatic boom.",
        motions.through("ready", "reach", "up"), "stanford",
    ),
    "scara": Model(
        scara, "arm", "An assembly robot: two upright revolute joints and a quill that slides and turns.",
        motions.through("ready", "pick", "ready", "place", pause=0.15, stretch=0.6), "scara",
    ),
    "human": Model(
        human, "body", "A human body of 25 joints with an adult's range of motion.",
        motions.walk_or_wave, "human:floating",
        "a height and 'fixed', 'planar' or 'floating'", _arguments(height=float, root=ROOT_KINDS),
    ),
    "quadruped": Model(
        quadruped, "body", "A four-legged animal of the size of a dog.",
        motions.trot, "quadruped",
        "'fixed', 'planar' or 'floating'", _arguments(root=ROOT_KINDS),
    ),
    "hand": Model(
        hand, "body", "A hand with five fingers, whose last joints follow the ones before.",
        motions.through("open", "fist", "point", "pinch"), "hand",
        "'right' or 'left' and 'fixed', 'planar' or 'floating'",
        _arguments(side=_one_of("right", "left"), root=ROOT_KINDS),
    ),
    "snake": Model(
        snake, "body", "A snake of revolute joints that turn alternately sideways and upwards.",
        motions.slithering, "snake:16",
        "a number of joints and 'fixed', 'planar' or 'floating'", _arguments(joints=int, root=ROOT_KINDS),
    ),
    "planets": Model(
        planets, "mechanism", "An orrery: the moon about the earth about the sun, and three more planets.",
        motions.orbiting, "planets",
    ),
    "ferris_wheel": Model(
        ferris_wheel, "mechanism", "A Ferris wheel whose cabins stay upright.",
        motions.riding, "ferris_wheel:12",
        "a number of cabins", _arguments(cabins=int),
    ),
    "pogo_stick": Model(
        pogo_stick, "mechanism", "A pogo stick on its spring.", motions.hopping, "pogo_stick",
    ),
    "engine": Model(
        engine, "mechanism", "A piston engine: crankshaft, rods and pistons.",
        motions.running, "engine:4",
        "a number of cylinders", _arguments(cylinders=int),
    ),
    "four_bar": Model(
        four_bar, "mechanism", "A four-bar linkage: crank, coupler and rocker in one closed loop.",
        motions.cranking, "four_bar",
        "the lengths of ground, crank, coupler and rocker",
        _arguments(ground=float, crank=float, coupler=float, rocker=float),
    ),
    "slider_crank": Model(
        slider_crank, "mechanism", "A slider-crank: a crank pushes a slider along its line, or beside it.",
        motions.cranking, "slider_crank:0.15,0.4,0.05",
        "the lengths of crank and rod, and an offset", _arguments(crank=float, rod=float, offset=float),
    ),
    "quick_return": Model(
        quick_return, "mechanism", "The quick return of a shaper: a crank's pin slides along a lever and swings it.",
        motions.cranking, "quick_return",
        "the lengths of ground, crank and lever", _arguments(ground=float, crank=float, lever=float),
    ),
    "pantograph": Model(
        pantograph, "mechanism", "A pantograph: its pen draws an enlarged copy of its tracer's path.",
        motions.tracing, "pantograph",
        "a ratio", _arguments(ratio=float),
    ),
    "jansen_leg": Model(
        jansen_leg, "mechanism", "A leg of Theo Jansen's beasts: one crank, eleven bars, three closed loops.",
        motions.cranking, "jansen_leg",
    ),
    "klann": Model(
        klann, "mechanism", "Joseph Klann's leg: a crank and two rockers, and a foot that steps.",
        motions.cranking, "klann",
        "a stride", _arguments(stride=float),
    ),
    "peaucellier": Model(
        peaucellier, "mechanism", "Peaucellier's inversor: eight bars draw an exactly straight line.",
        motions.inverting, "peaucellier",
        "the lengths of arms, sides and crank", _arguments(arm=float, side=float, crank=float),
    ),
    "scissor": Model(
        scissor, "mechanism", "A scissor lift: stacked pairs of crossed bars.",
        motions.rising, "scissor:5",
        "a number of stages and the length of the bars", _arguments(stages=int, length=float),
    ),
    "bennett": Model(
        bennett, "mechanism", "Bennett's ring: four hinges in space that move, though Gruebler's count forbids it.",
        motions.cranking, "bennett:0.5,0.3,45deg",
        "two lengths, and a twist such as 45deg", _arguments(first=float, second=float, twist=as_angle),
    ),
    "scotch_yoke": Model(
        scotch_yoke, "mechanism", "A Scotch yoke: a pin in a slot moves a rod by an exact sine.",
        motions.cranking, "scotch_yoke",
        "the radius of the crank", _arguments(crank=float),
    ),
    "gear_train": Model(
        gear_train, "mechanism", "Spur gears in a row, each turned by the one before.",
        motions.turning_to_and_fro("gear1"), "gear_train:20,40,30",
        "the teeth of the gears", _teeth,
    ),
    "planetary": Model(
        planetary, "mechanism", "A planetary gear: sun, planets and carrier inside a fixed ring.",
        motions.turning_to_and_fro("sun"), "planetary:24,18",
        "the teeth of sun and planets, and how many planets", _arguments(sun=int, planet=int, planets=int),
    ),
    "cam_follower": Model(
        cam_follower, "mechanism", "A disc cam that lifts a follower with a roller: rise, dwell, return, dwell.",
        motions.turning_once("cam"), "cam_follower:0.02,oscillating",
        "the lift, and 'translating' or 'oscillating'",
        _arguments(lift=float, follower=_one_of("translating", "oscillating")),
    ),
    "geneva": Model(
        geneva, "mechanism", "A Geneva drive: a pin turns a wheel step by step, and a disc locks it in between.",
        motions.turning_to_and_fro("crank"), "geneva:6",
        "the numbers of slots and of pins", _arguments(slots=int, pins_on_crank=int),
    ),
    "five_bar": Model(
        five_bar, "mechanism", "A five-bar: two driven cranks carry one tip.",
        motions.carrying("tip", 0.1), "five_bar",
        "the lengths of ground, cranks and bars", _arguments(ground=float, crank=float, link=float),
    ),
    "delta": Model(
        delta, "mechanism", "A Delta robot: three arms carry a platform that never turns.",
        motions.carrying("platform", 0.1), "delta",
        "the sizes of base, platform, arms and rods", _arguments(base=float, platform=float, arm=float, rod=float),
    ),
    "stewart": Model(
        stewart, "mechanism", "A Stewart platform: six legs of variable length carry a platform.",
        motions.carrying("platform", 0.1), "stewart",
        "the radii of base and platform, and the height", _arguments(base=float, platform=float, height=float),
    ),
}  # fmt: skip


def _wrong(_name: str, row: object) -> str:
    if not isinstance(row, Model):
        return f"it is a {type(row).__name__}, not a Model"
    return "" if row.category in CATEGORIES else f"its category {row.category!r} is none of {', '.join(CATEGORIES)}"


MODELS: Table[Model] = Table("linkwork.models", _OWN, _wrong)


def build(text: str) -> Linkage:
    """Return a ready-made linkage from a text: a name, optionally with arguments after a colon.

    Args:
        text: For example ``"panda"``, ``"planar:15,10,5"``, ``"planar:4"``, ``"snake:9"``, ``"human:floating"``.

    Raises:
        ModelNotFoundError: If there is no model of that name.
        LinkageError: If the arguments after the colon are invalid.

    Example:
        >>> build("two_link:1,0.8").frames
        ('base', 'upper', 'lower', 'tip')
    """
    model, texts = _read(text)
    try:
        return model.function(**model.read(texts))
    except LinkageError as error:
        raise LinkageError(f"model {text!r}: {error} It takes {model.takes}, as in {model.example!r}.") from error


def motion(text: str) -> Clip:
    """Return a short looping motion of a ready-made linkage, at 24 frames per second; arguments as in `build`.

    Example:
        >>> motion("ferris_wheel:12")
        <Clip of 'ferris_wheel': 97 frames, 4 s>
    """
    model, _ = _read(text)
    return model.motion(build(text))


def _read(text: str) -> tuple[Model, list[str]]:
    if not isinstance(text, str):
        raise LinkageError(f"a model is named by a text such as 'panda' or 'planar:15,10,5', got {text!r}.")
    name, _, rest = text.partition(":")
    name = name.strip().replace("-", "_")
    if name not in MODELS:
        raise ModelNotFoundError(name, "linkwork.models", tuple(MODELS))
    return MODELS[name], [part.strip() for part in rest.split(",")] if rest.strip() else []
