"""Planar mechanisms with their closed forms: positions of pins, computed from intersections of circles and lines.

Points in the plane are complex numbers, in arrays. Nothing here uses the kinematics of the library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.models.classics import KLANN_LENGTHS, KLANN_PIVOTS

Array = np.ndarray[Any, Any]
TURN = np.linspace(0.3, 0.3 + 2.0 * np.pi, 13)
SIDES = (1.0, -1.0)


@dataclass(frozen=True)
class Mechanism:
    """A linkage, values of its drivers, and known results.

    Attributes:
        linkage: The linkage.
        drivers: Values of the driving joints, shape (n,) each [rad, m].
        ways: Positions of frames, shape (n, 3) each [m], for each assembly mode that has a closed form.
        degrees: Number of degrees of freedom.
        modes: Number of assembly modes, if known.
        hints: Joint values near the first pose of each mode, for mechanisms with too many modes to list.
    """

    linkage: lw.Linkage
    drivers: Mapping[str, Array]
    ways: Sequence[Mapping[str, Array]]
    degrees: int = 1
    modes: int | None = None
    hints: Sequence[Mapping[str, Any]] = ()


class Sized(lw.Builder):
    """A builder that multiplies all lengths by a size; points in the plane may be complex numbers."""

    def __init__(self, name: str, size: float) -> None:
        super().__init__(name, base="ground")
        self.size = size

    def joint(self, *given: Any, at: Any = (0.0, 0.0, 0.0), **options: Any) -> Sized:
        super().joint(*given, at=self.size * spread(at), **options)
        return self

    def frame(self, name: str, *, at: Any = (0.0, 0.0, 0.0), **options: Any) -> Sized:
        super().frame(name, at=self.size * spread(at), **options)
        return self

    def bar(self, name: str, parent: str, at: complex, **pins: complex) -> Sized:
        """Add a link on a revolute joint in the plane, with pins on it."""
        self.continuous(name, name, parent=parent, at=at)
        for pin, place in pins.items():
            self.frame(pin, at=place)
        return self

    def made(self, drivers: Mapping[str, Array], ways: Sequence[Mapping[str, Array]], **known: Any) -> Mechanism:
        """Return the mechanism, with known results scaled from size one to its size."""
        return model(self.build(), self.size, drivers, ways, **known)


def model(
    linkage: lw.Linkage, size: float, drivers: Mapping[str, Array], ways: Sequence[Mapping[str, Array]], **known: Any
) -> Mechanism:
    """Return a linkage of any size with its known results at size one."""
    units = dict(zip(linkage.coordinates, linkage.table.units, strict=True))
    sized = {name: values * (size if units[name] == "m" else 1.0) for name, values in drivers.items()}
    places = [{name: size * spread(points) for name, points in way.items()} for way in ways]
    return Mechanism(linkage, sized, places, **known)


def spread(points: Any) -> Array:
    """Return points in space from complex numbers; points that are in space already are unchanged."""
    array = np.asarray(points)
    return np.stack([array.real, array.imag, 0.0 * array.real], axis=-1) if np.iscomplexobj(array) else array


def spin(angle: Any) -> Any:
    return np.exp(1j * np.asarray(angle))


def meet(first: Any, second: Any, one: float, two: float, side: float) -> Any:
    """Return the intersection of circles about two points, left (1) or right (-1) of the line from one to the other."""
    way = second - first
    apart = np.abs(way)
    along = (apart**2 + one**2 - two**2) / (2.0 * apart)
    return first + way / apart * (along + 1j * side * np.sqrt(one**2 - along**2))


# Four bars


def four_bar(lengths: Sequence[float], path: Array) -> Callable[[float], Mechanism]:
    """Return a four-bar of ground, crank, coupler and rocker, driven by its crank."""
    ground, crank, coupler, rocker = lengths

    def made(size: float) -> Mechanism:
        b = Sized("four_bar", size)
        b.bar("crank", "ground", 0j, pin=crank + 0j)
        b.bar("coupler", "crank", crank + 0j, end=coupler + 0j, point=coupler * (0.5 + 0.35j))
        b.bar("rocker", "ground", ground + 0j, rocker_end=rocker + 0j).loop("loop", "end", "rocker_end")
        pin = crank * spin(path)
        ends = [meet(pin, ground, coupler, rocker, side) for side in SIDES]
        ways = [{"end": end, "point": pin + (0.5 + 0.35j) * (end - pin)} for end in ends]
        return b.made({"crank": path}, ways, modes=2)

    return made


def parallelogram(size: float) -> Mechanism:
    """Return a parallelogram, whose branches meet twice per turn; it stays on its branch."""
    b = Sized("parallelogram", size)
    b.bar("crank", "ground", 0j).bar("coupler", "crank", 0.3 + 0j, end=0.5 + 0j)
    b.bar("rocker", "ground", 0.5 + 0j, rocker_end=0.3 + 0j).loop("loop", "end", "rocker_end")
    crossed = meet(0.3 * spin(TURN), 0.5, 0.5, 0.3, 1.0)
    other = meet(0.3 * spin(TURN), 0.5, 0.5, 0.3, -1.0)
    parallel = 0.5 + 0.3 * spin(TURN)
    anti = np.where(np.abs(crossed - parallel) > np.abs(other - parallel), crossed, other)
    return b.made({"crank": TURN}, [{"end": parallel}, {"end": anti}], modes=2)


# Sliders


def slider_crank(offset: float, rod: float = 0.7) -> Callable[[float], Mechanism]:
    def made(size: float) -> Mechanism:
        pin = 0.3 * spin(TURN)
        half = np.sqrt(rod**2 - (pin.imag - offset) ** 2)
        ways = [{"rod_end": pin.real + side * half + 1j * offset} for side in SIDES]
        linkage = lw.models.slider_crank(0.3 * size, rod * size, offset * size)
        return model(linkage, size, {"crank": TURN}, ways, modes=2)

    return made


def quick_return(crank: float) -> Callable[[float], Mechanism]:
    """Return Whitworth's quick return: a crank longer than the ground turns the lever through full turns."""

    def made(size: float) -> Mechanism:
        way = crank * spin(TURN) + 0.2j
        ways = [{"tip": -0.2j + side * 0.3 * way / np.abs(way)} for side in SIDES]
        return model(lw.models.quick_return(0.2 * size, crank * size, 0.3 * size), size, {"crank": TURN}, ways, modes=2)

    return made


def shaper(size: float) -> Mechanism:
    """Return a shaper: a slotted lever swings and pushes a ram along a line."""
    b = Sized("shaper", size)
    b.bar("crank", "ground", 0j, pin=0.2 + 0j).bar("lever", "ground", -0.5j)
    b.prismatic("slide", "block", axis="x", parent="lever").frame("center")
    b.bar("rod", "lever", 0.9 + 0j, rod_end=0.4 + 0j)
    b.prismatic("ram", "ram", axis="x", parent="ground", at=0.35j).frame("tool")
    b.loop("lever", "pin", "center").loop("ram", "rod_end", "tool")
    way, ways = 0.2 * spin(TURN) + 0.5j, []
    tip = -0.5j + 0.9 * way / np.abs(way)
    for side in SIDES:
        ways.append({"rod": tip, "tool": tip.real + side * np.sqrt(0.4**2 - (tip.imag - 0.35) ** 2) + 0.35j})
    return b.made({"crank": TURN}, ways, modes=2)  # the lever upside down is too far from the ram


def trammel(size: float) -> Mechanism:
    """Return the trammel of Archimedes: a bar draws ellipses while its ends slide on two axes."""
    b = Sized("trammel", size)
    b.prismatic("across", "one", axis="x").bar("bar", "one", 0j, end=0.6 + 0j, pen=1.0 + 0j)
    b.prismatic("up", "two", axis="y", parent="ground").frame("pin")
    way = {"end": 0.6j * np.sin(TURN), "pen": 0.4 * np.cos(TURN) + 1j * np.sin(TURN)}
    return b.loop("loop", "end", "pin").made({"bar": TURN}, [way], modes=1)


def scotch_yoke(size: float) -> Mechanism:
    way = {"rod": 0.4 * np.cos(TURN) + 0.7 + 0j, "center": 0.4 * spin(TURN)}
    return model(lw.models.scotch_yoke(0.4 * size), size, {"crank": TURN}, [way], modes=1)


# Six bars and more: dyads attached to a four-bar

GROUND, CRANK, COUPLER, ROCKER = 0.4, 0.15, 0.35, 0.3


def six_bar(name: str, size: float) -> tuple[Sized, list[tuple[Array, Array]]]:
    """Return the four-bar of a six-bar, and the positions of pin and end of the coupler for both of its branches."""
    b = Sized(name, size)
    b.bar("crank", "ground", 0j).bar("coupler", "crank", CRANK + 0j, end=COUPLER + 0j)
    b.bar("rocker", "ground", GROUND + 0j, rocker_end=ROCKER + 0j).loop("loop", "end", "rocker_end")
    pin = CRANK * spin(TURN)
    return b, [(pin, meet(pin, GROUND, COUPLER, ROCKER, side)) for side in SIDES]


def watt_one(size: float) -> Mechanism:
    """Return Watt's first six-bar: a dyad between coupler and rocker, which share a pin."""
    b, branches = six_bar("watt", size)
    b.bar("fifth", "coupler", COUPLER * (0.6 + 0.7j), tip=0.4 + 0j)
    b.bar("sixth", "rocker", ROCKER * (1.3 + 0.4j), sixth_end=0.45 + 0j).loop("second", "tip", "sixth_end")
    ways = []
    for pin, end in branches:
        one, two = pin + (0.6 + 0.7j) * (end - pin), GROUND + (1.3 + 0.4j) * (end - GROUND)
        ways += [{"end": end, "tip": meet(one, two, 0.4, 0.45, side)} for side in SIDES]
    return b.made({"crank": TURN}, ways, modes=4)


def watt_two(size: float) -> Mechanism:
    """Return Watt's second six-bar: the rocker of a four-bar drives another."""
    b, branches = six_bar("watt", size)
    b.bar("fifth", "rocker", ROCKER * (0.5 - 0.6j), tip=0.5 + 0j)
    b.bar("sixth", "ground", 0.9 - 0.1j, sixth_end=0.35 + 0j).loop("second", "tip", "sixth_end")
    ways = []
    for _, end in branches[:1]:
        corner = GROUND + (0.5 - 0.6j) * (end - GROUND)
        ways += [{"end": end, "tip": meet(corner, 0.9 - 0.1j, 0.5, 0.35, side)} for side in SIDES]
    return b.made({"crank": TURN}, ways)


def stephenson_one(size: float) -> Mechanism:
    """Return Stephenson's first six-bar: a dyad between crank and rocker of a four-bar."""
    b, branches = six_bar("stephenson", size)
    b.bar("fifth", "crank", CRANK * (0.5 + 0.6j), tip=0.35 + 0j)
    b.bar("sixth", "rocker", ROCKER * (0.9 - 0.5j), sixth_end=0.4 + 0j).loop("second", "tip", "sixth_end")
    ways = []
    for pin, end in branches:
        one, two = (0.5 + 0.6j) * pin, GROUND + (0.9 - 0.5j) * (end - GROUND)
        ways += [{"end": end, "tip": meet(one, two, 0.35, 0.4, side)} for side in SIDES]
    return b.made({"crank": TURN}, ways, modes=4)


def stephenson_two(size: float) -> Mechanism:
    """Return Stephenson's second six-bar: no four-bar loop contains the ground, and no dyad can be closed alone.

    Its four-bar is on the crank and driven there. That gives the distance of its corner from the crank's pivot; crank
    and sixth bar complete the triangle.
    """
    one, two, corner, side_pin = 0.5 - 0.2j, 0.5 + 0.2j, 0.21 - 0.14j, COUPLER + 0j
    b = Sized("stephenson", size).bar("crank", "ground", 0j)
    b.bar("short", "crank", one).bar("plate", "short", CRANK + 0j, side=side_pin, corner=corner)
    b.bar("other", "crank", two, other_end=ROCKER + 0j).loop("first", "side", "other_end")
    b.bar("sixth", "ground", 0.9 + 0j, sixth_end=0.7 + 0j).loop("second", "corner", "sixth_end")
    pin, ways = one + CRANK * spin(TURN), []
    for branch in SIDES:
        end = meet(pin, two, COUPLER, ROCKER, branch)
        seen = pin + corner / side_pin * (end - pin)  # from the crank
        for side in SIDES:
            place = meet(0j, 0.9, np.abs(seen), 0.7, side)
            ways.append({"corner": place, "side": place / seen * end})
    return b.made({"short": TURN}, ways, modes=4)


def stephenson_three(size: float) -> Mechanism:
    """Return Stephenson's third six-bar: a dyad between a point of the coupler and the ground."""
    b, branches = six_bar("stephenson", size)
    b.bar("fifth", "coupler", COUPLER * (0.5 + 0.6j), tip=0.45 + 0j)
    b.bar("sixth", "ground", 0.6 + 0.3j, sixth_end=0.4 + 0j).loop("second", "tip", "sixth_end")
    ways = []
    for pin, end in branches[:1]:
        corner = pin + (0.5 + 0.6j) * (end - pin)
        ways += [{"end": end, "tip": meet(corner, 0.6 + 0.3j, 0.45, 0.4, side)} for side in SIDES]
    return b.made({"crank": TURN}, ways)


def klann(size: float) -> Mechanism:
    """Return Klann's leg: coupler and leg are plates on two rockers."""
    n, pin, ways = KLANN_LENGTHS, KLANN_LENGTHS["crank"] * spin(TURN), []
    low, high = (complex(*KLANN_PIVOTS[name]) for name in ("lower", "upper"))
    elbow = meet(pin, low, n["pin to elbow"], n["lower"], -1.0)
    knee = meet(pin, elbow, n["pin to knee"], n["elbow to knee"], -1.0)
    for side in SIDES:
        hip = meet(knee, high, n["knee to hip"], n["upper"], side)
        foot = meet(knee, hip, n["knee to foot"], n["hip to foot"], -1.0)
        ways.append({"elbow": elbow, "leg": knee, "hip": hip, "foot": foot})
    return model(lw.models.klann(size), size, {"crank": TURN}, ways)


def jansen(size: float) -> Mechanism:
    """Return Theo Jansen's leg, with his "holy numbers"."""
    lengths = (0.38, 0.415, 0.393, 0.401, 0.558, 0.394, 0.367, 0.657, 0.49, 0.5, 0.619, 0.078)
    n = dict(zip("abcdefghijkl", lengths, strict=True))
    pivot, pin = -n["a"] - 1j * n["l"], 0.15 * spin(TURN)
    top, low = meet(pin, pivot, n["j"], n["b"], -1.0), meet(pin, pivot, n["k"], n["c"], 1.0)
    back = meet(pivot, top, n["d"], n["e"], 1.0)
    ways = []
    for side in SIDES:
        knee = meet(back, low, n["f"], n["g"], -side)
        foot = meet(knee, low, n["h"], n["i"], -1.0)
        ways.append({"top_end": top, "swing_end": low, "coupler_end": knee, "foot": foot})
    upper, shin = meet(0j, n["b"], n["d"], n["e"], 1.0), meet(n["g"] + 0j, 0j, n["h"], n["i"], -1.0)
    b = Sized("jansen", size).bar("crank", "ground", 0j)
    b.bar("upper_rod", "crank", 0.15 + 0j, upper_rod_end=n["j"] + 0j)
    b.bar("lower_rod", "crank", 0.15 + 0j, lower_rod_end=n["k"] + 0j)
    b.bar("top", "ground", pivot, top_end=n["b"] + 0j).bar("coupler", "top", upper, coupler_end=n["f"] + 0j)
    b.bar("swing", "ground", pivot, swing_end=n["c"] + 0j)
    b.bar("knee", "swing", n["c"] + 0j, shin_end=n["g"] + 0j, foot=shin)
    b.loop("upper", "upper_rod_end", "top_end").loop("lower", "lower_rod_end", "swing_end")
    return b.loop("knee", "coupler_end", "shin_end").made({"crank": TURN}, ways, modes=8)


# Straight lines, parallelograms and scissors


def peaucellier(size: float) -> Mechanism:
    """Return Peaucellier's inversor: it maps a circle through its pivot to a straight line."""
    path, radius, arm, side = np.linspace(-1.3, 1.3, 19), 0.2, 0.6, 0.3
    pin, ways = radius + radius * spin(path), []
    pen = (arm**2 - side**2) / np.conj(pin)  # the inverse of the pin in a circle about the pivot
    assert np.ptp(pen.real) < 1e-12  # a line
    for sense in SIDES:
        corners = {f"corner{k}": meet(0j, pin, arm, side, s * sense) for k, s in ((1, 1.0), (2, -1.0))}
        ways.append({**corners, "pen": pen})
    return model(lw.models.peaucellier(arm * size, side * size, radius * size), size, {"crank": path}, ways)


def hart(size: float) -> Mechanism:
    """Return Hart's inversor: a crossed parallelogram draws a straight line with four bars fewer."""
    path, short, long, radius = np.linspace(-2.0, 2.0, 19), 0.3, 0.5, 0.15
    b = Sized("hart", size).bar("ab", "ground", 0j, a=-short / 2 + 0j)
    b.bar("ad", "ab", -short / 2 + 0j, middle=long / 2 + 0j).bar("dc", "ad", long + 0j, c=short + 0j)
    b.bar("bc", "ab", short / 2 + 0j, pen=long / 2 + 0j, bc_end=long + 0j)
    b.bar("crank", "ground", radius + 0j, pin=radius + 0j).loop("crank", "pin", "middle").loop("bars", "c", "bc_end")
    pin = radius + radius * spin(path)
    half, other = np.abs(pin), (long**2 - short**2) / 4.0 / np.abs(pin)  # of the diagonals, BD and AC
    height = np.sqrt(long**2 - (half + other) ** 2)
    corners = [pin / half * (half - other - 1j * side * height) / 2.0 for side in SIDES]
    return b.made({"crank": path}, [{"a": corner, "pen": pin / half * other} for corner in corners])


def pantograph(size: float) -> Mechanism:
    """Return a pantograph that enlarges the motion of its tracer by three."""
    phase = np.linspace(0.0, 2.0 * np.pi, 13)
    shoulder, elbow = 0.4 + 0.3 * np.cos(phase), 1.4 + 0.5 * np.sin(phase)
    b = Sized("pantograph", size).bar("shoulder", "ground", 0j).bar("elbow", "shoulder", 0.6 + 0j, pen=0.45 + 0j)
    b.bar("link", "elbow", 0.15 + 0j, link_end=0.4 + 0j).bar("arm", "shoulder", 0.2 + 0j, tracer=0.15 + 0j)
    tracer = 0.2 * spin(shoulder) + 0.15 * spin(shoulder + elbow)
    way = {"tracer": tracer, "pen": 3.0 * tracer}
    return b.loop("loop", "tracer", "link_end").made({"shoulder": shoulder, "elbow": elbow}, [way], degrees=2, modes=2)


def scissor(size: float) -> Mechanism:
    """Return scissors: stacked pairs of crossed bars."""
    path = np.linspace(0.2, 0.9, 9)
    rise = np.sqrt(1.0 - path**2)
    pins = {f"a{k}_middle": path / 2.0 + 1j * (k - 0.5) * rise for k in (1, 2, 3)} | {"top": 3.0j * rise}
    ways = [pins, {name: np.conj(pin) for name, pin in pins.items()}]
    return model(lw.models.scissor(3, size), size, {"slide": path}, ways, modes=8)


# Several drivers


def five_bar(size: float) -> Mechanism:
    phase = np.linspace(0.0, 2.0 * np.pi, 13)
    left, right = 2.0 + 0.5 * np.cos(phase), 1.0 + 0.5 * np.sin(phase)
    b = Sized("five_bar", size)
    b.bar("left", "ground", 0j).bar("left_bar", "left", 0.3 + 0j, tip=0.5 + 0j)
    b.bar("right", "ground", 0.3 + 0j).bar("right_bar", "right", 0.3 + 0j, right_end=0.5 + 0j)
    one, two = 0.3 * spin(left), 0.3 + 0.3 * spin(right)
    ways = [{"tip": meet(one, two, 0.5, 0.5, side)} for side in SIDES]
    return b.loop("loop", "tip", "right_end").made({"left": left, "right": right}, ways, degrees=2, modes=2)


def three_rrr(size: float) -> Mechanism:
    """Return a plate on three arms of two bars each, driven by arm angles that follow from a path of the plate."""
    phase = np.linspace(0.0, 2.0 * np.pi, 13)
    center, turn = 0.1 * spin(phase), 0.2 * np.sin(phase)
    corners = spin(2.0 * np.pi * np.arange(3) / 3.0 + 0.5)
    b, drivers = Sized("three_rrr", size), {}
    for k, corner in enumerate(corners):
        b.bar(f"arm{k}", "ground", complex(corner)).bar(f"rod{k}", f"arm{k}", 0.6 + 0j, **{f"end{k}": 0.6 + 0j})
        knee = meet(corner, center + 0.3 * corner * spin(turn), 0.6, 0.6, 1.0)
        drivers[f"arm{k}"] = np.unwrap(np.angle(knee - corner))
    b.planar("plate", "plate", parent="ground")
    for k, corner in enumerate(corners):
        b.frame(f"hole{k}", at=complex(0.3 * corner)).loop(f"loop{k}", f"end{k}", f"hole{k}")
    way = {f"hole{k}": center + 0.3 * corner * spin(turn) for k, corner in enumerate(corners)}
    return b.made(drivers, [way], degrees=3)


PLANE: dict[str, Callable[[float], Mechanism]] = {
    "crank and rocker": four_bar((0.4, 0.15, 0.35, 0.3), TURN),
    "drag link": four_bar((0.15, 0.35, 0.4, 0.3), TURN),
    "double rocker": four_bar((0.4, 0.35, 0.15, 0.3), np.linspace(0.6, 0.85, 9)),
    "rocker that drives a crank": four_bar((0.4, 0.3, 0.35, 0.15), np.linspace(0.6, 1.4, 9)),
    "triple rocker": four_bar((0.4, 0.3, 0.3, 0.25), np.linspace(-1.7, 1.7, 13)),
    "parallelogram": parallelogram,
    "slider-crank": slider_crank(0.0),
    "offset slider-crank": slider_crank(0.2),
    "quick return": quick_return(0.1),
    "whitworth": quick_return(0.5),
    "shaper": shaper,
    "trammel": trammel,
    "scotch yoke": scotch_yoke,
    "watt one": watt_one,
    "watt two": watt_two,
    "stephenson one": stephenson_one,
    "stephenson two": stephenson_two,
    "stephenson three": stephenson_three,
    "klann": klann,
    "jansen": jansen,
    "peaucellier": peaucellier,
    "hart": hart,
    "pantograph": pantograph,
    "scissor": scissor,
    "five-bar": five_bar,
    "3-RRR": three_rrr,
}
