"""Prepare MJCF for MuJoCo: read with limits, insert includes, and remove all that a linkage does not need.

The result is one text, and one for each attached model, with one element per line and the origin of each line. It names
no other file that MuJoCo would open. `mjcf_files` finds the files.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from ..errors import FormatError, Remark
from .mjcf_files import MAX_DEPTH, ModelFiles
from .options import FilePath, Options
from .xml import XmlElement, quoted

LEAST_MASS = 1e-14  # mass set for bodies without mass, which MuJoCo would refuse [kg]
BOUNDS = ("boundmass", "boundinertia")  # MuJoCo settings for that
MAX_ELEMENTS = 10_000  # elements passed to MuJoCo, with all repetitions
MAX_REPEATED = {"body": 2_000, "joint": 2_000}  # MuJoCo takes seconds for more: its time is quadratic

TOP = {"compiler", "default", "asset", "worldbody", "equality", "keyframe", "actuator", "tendon"}
ACTUATORS = {"general", "motor", "position", "velocity"}  # on joints; they give the effort limits
BODY = {"body", "frame", "replicate", "attach", "joint", "freejoint", "geom", "site", "inertial"}
CHILDREN: dict[str, set[str]] = {
    "mujoco": TOP,
    "default": {"default", "joint", "geom", "site", "mesh", "material", "equality", *ACTUATORS},
    "actuator": ACTUATORS,
    "asset": {"mesh", "hfield", "material", "model"},
    "worldbody": BODY,
    "body": BODY,
    "frame": BODY,
    "replicate": BODY,
    "equality": {"connect", "weld", "joint", "tendon"},
    "tendon": {"fixed"},
    "fixed": {"joint"},
    "keyframe": {"key"},
}
STRENGTH = {
    *("name", "class", "joint", "gear", "forcerange", "forcelimited", "ctrlrange", "ctrllimited"),
    *("gaintype", "biastype", "gainprm", "biasprm", "kp", "kv"),
}
ATTRIBUTES: dict[str, set[str]] = {  # allowed ones; others could make MuJoCo open files, fuse bodies or use much memory
    "mujoco": {"model"},
    "compiler": {
        *("angle", "eulerseq", "coordinate", "autolimits", "alignfree"),
        *("balanceinertia", "boundmass", "boundinertia", "inertiafromgeom", "inertiagrouprange", "settotalmass"),
    },
    "mesh": {"name", "class", "file", "scale", "refpos", "refquat", "vertex", "face", "inertia"},
    "hfield": {"name", "nrow", "ncol", "size", "elevation"},
    "material": {"name", "class", "rgba"},
    "model": {"name", "file"},
    "attach": {"model", "body", "prefix"},
    "key": {"name", "qpos"},
    "fixed": {"name"},
}
ATTRIBUTES |= dict.fromkeys(ACTUATORS, STRENGTH)
LAWS = {"gaintype": ("fixed", "affine"), "biastype": ("none", "affine")}  # others make MuJoCo simulate
NUMBERS = {
    *("pos", "quat", "axis", "axisangle", "xyaxes", "zaxis", "euler", "fromto", "size", "ref", "range", "offset"),
    *("mass", "density", "diaginertia", "fullinertia", "anchor", "relpose", "polycoef", "qpos", "scale", "rgba"),
    *("refpos", "refquat", "vertex", "elevation", "boundmass", "boundinertia", "settotalmass"),
    *("gear", "forcerange", "ctrlrange", "gainprm", "biasprm", "kp", "kv", "coef"),
}
OPEN_ENDED = {"range", "forcerange", "ctrlrange"}  # only these may be infinite
TEXTS = {  # all other attributes hold numbers or keywords
    *("name", "class", "childclass", "model", "file", "mesh", "material", "hfield", "prefix", "body"),
    *("joint", "body1", "body2", "joint1", "joint2", "site1", "site2", "sep", "fluidshape", "tendon1", "tendon2"),
}
REFUSED = {
    "composite": "uses <composite>, which MuJoCo no longer supports; write the bodies out.",
}


@dataclass(frozen=True)
class MjcfSource:
    """A model that is safe to pass to MuJoCo.

    Args:
        path: Its file.
        text: The text for MuJoCo.
        places: The file and line of origin of each line of the text.
        remarks: Remarks on omissions.
        models: The attached models, by the file names used in the text.
    """

    path: FilePath
    text: str
    places: tuple[tuple[FilePath, int], ...]
    remarks: tuple[Remark, ...] = ()
    models: Mapping[str, MjcfSource] = field(default_factory=dict)

    @property
    def files(self) -> dict[str, bytes]:
        """The texts of all attached models, including nested ones, by name."""
        result: dict[str, bytes] = {}
        for name, model in self.models.items():
            result |= {name: model.text.encode(), **model.files}
        return result


def read_source(path: FilePath, options: Options) -> MjcfSource:
    """Return a model as text for MuJoCo.

    Raises:
        FormatError: If a file cannot be read, is not MJCF, includes a forbidden file, or is too deep or too large.
    """
    files = ModelFiles(path, options)
    source, _ = _source(files, path)
    return replace(source, remarks=(*files.remarks, *source.remarks))


def _source(files: ModelFiles, path: FilePath) -> tuple[MjcfSource, Counter[str]]:
    """Return a model, and its number of elements in MuJoCo by tag, with the total under the empty tag."""
    root = files.read(path)
    if files.nested:  # for bodies without mass; for the outermost model this is set at compilation
        root.children.insert(0, XmlElement("compiler", dict.fromkeys(BOUNDS, str(LEAST_MASS)), path, root.line))
    models, sizes = {}, {}
    remarks: list[Remark] = []
    for node in (child for asset in root.all("asset") for child in asset.all("model")):
        with files.opened(node, path) as file:
            model, size = _source(files, file)
        name = f"model{files.number()}.xml"
        models[name] = model
        remarks += (replace(remark, where=file.name) for remark in model.remarks)
        sizes[node.attributes.get("name") or files.model_name(file)] = size
        node.attributes = {**node.attributes, "file": name}
    remarks += _strip(root)
    totals = _check(root, sizes)
    lines, nodes = zip(*_lines(root), strict=True)
    places = tuple((node.path, node.line) for node in nodes)
    return MjcfSource(path, "\n".join(lines), places, tuple(remarks), models), totals


# The text for MuJoCo


def _strip(root: XmlElement) -> tuple[Remark, ...]:
    """Remove elements and attributes that do not concern links, joints and shapes; return a remark on the elements."""
    dropped = _strip_tendons(root)  # first line by tag
    for node in root.walk():
        known = CHILDREN.get(node.tag, set())
        for child in node.children:
            if child.tag in REFUSED:
                raise FormatError(child.path, REFUSED[child.tag], line=child.line)
            if child.tag not in known or _is_in_a_file(child):
                dropped.setdefault(child.tag, child.line)
        node.children = [child for child in node.children if child.tag in known and not _is_in_a_file(child)]
        if node.tag in ATTRIBUTES:
            kept = ATTRIBUTES[node.tag]
            node.attributes = {name: value for name, value in node.attributes.items() if name in kept}
        if node.tag == "actuator":
            node.children = [child for child in node.children if "joint" in child.attributes]
        if node.tag in ACTUATORS:
            node.attributes = {
                name: "affine" if name in LAWS and value not in LAWS[name] else value
                for name, value in node.attributes.items()
            }
    names = ", ".join(f"<{tag}>" for tag in dropped)
    line = min(dropped.values(), default=0)
    return (Remark("dropped", f"a linkage cannot store {names}.", line=line),) if dropped else ()


def _is_in_a_file(node: XmlElement) -> bool:
    """Return whether an element is a height field without heights in the model."""
    return node.tag == "hfield" and not {"size", "elevation"} <= set(node.attributes)


def _strip_tendons(root: XmlElement) -> dict[str, int]:
    """Keep only fixed tendons in equality constraints, and these constraints; return the line of the first other."""
    every = [child for tendons in root.all("tendon") for child in tendons.children]
    fixed = {child.attributes.get("name") for child in every if child.tag == "fixed"}
    ties = [child for equality in root.all("equality") for child in equality.all("tendon")]
    ties = [tie for tie in ties if set(_tied(tie)) <= fixed]
    held = {name for tie in ties for name in _tied(tie)}
    kept = [child for child in every if child.tag == "fixed" and child.attributes.get("name") in held]
    left: list[int] = []
    for part in (*root.all("tendon"), *root.all("equality")):
        known = [c for c in part.children if c in kept or c in ties or (part.tag == "equality" and c.tag != "tendon")]
        left += [child.line for child in part.children if child not in known]
        part.children = known
    return {"tendon": min(left)} if left else {}


def _tied(tie: XmlElement) -> list[str]:
    """Return the names of the tendons in an equality constraint."""
    return [tie.attributes[key] for key in ("tendon1", "tendon2") if key in tie.attributes]


def _check(root: XmlElement, sizes: Mapping[str, Counter[str]]) -> Counter[str]:
    """Raise if a number is invalid, or if repetitions make the model too large; return its size.

    `sizes` are those of the attached models.
    """
    waiting = [(root, 1, 1)]
    totals: Counter[str] = Counter()
    while waiting:
        node, times, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise FormatError(node.path, f"is nested deeper than {MAX_DEPTH} elements.", line=node.line)
        for name, value in node.attributes.items():
            if name not in TEXTS:
                _check_numbers(node, name, value)
        if node.tag == "replicate":
            count = node.attributes.get("count", "")
            try:
                times *= min(max(int(count), 1), MAX_ELEMENTS + 1)
            except ValueError as error:
                what = f"count of <replicate> is {count!r}, not a number."
                raise FormatError(node.path, what, line=node.line) from error
        adds = Counter({node.tag: 1, "": 1})
        if node.tag == "attach":
            adds += sizes.get(node.attributes.get("model", ""), Counter())
        for tag, number in adds.items():
            totals[tag] += times * number
            most = MAX_REPEATED.get(tag, MAX_ELEMENTS)
            if totals[tag] > most:
                what = f"has more than {most} {f'<{tag}> ' if tag else ''}elements, counting repetitions"
                raise FormatError(node.path, f"{what}, the largest number that is read.", line=node.line)
        waiting += [(child, times, depth + 1) for child in node.children]
    return totals


def _check_numbers(node: XmlElement, name: str, value: str) -> None:
    """Raise for NaN, which MuJoCo would accept with a log entry, and for infinite sizes and positions."""
    for token in value.split():
        nan = token.lower().lstrip("+-").startswith("nan")
        try:
            endless = name in NUMBERS and name not in OPEN_ENDED and math.isinf(float(token))
        except ValueError:
            endless = False  # a word, checked by MuJoCo
        if nan or endless:
            raise FormatError(node.path, f"{name} of <{node.tag}> must be finite, got {token[:20]}.", line=node.line)


def _lines(root: XmlElement) -> Iterator[tuple[str, XmlElement]]:
    """Yield the elements as XML, one tag per line."""
    waiting: list[tuple[XmlElement, bool]] = [(root, False)]
    while waiting:
        node, closing = waiting.pop()
        if closing:
            yield f"</{node.tag}>", node
            continue
        attributes = "".join(f" {name}={quoted(value)}" for name, value in node.attributes.items())
        if not node.children:
            yield f"<{node.tag}{attributes}/>", node
            continue
        yield f"<{node.tag}{attributes}>", node
        waiting.append((node, True))
        waiting += [(child, False) for child in reversed(node.children)]
