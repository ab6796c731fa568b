"""A model: a camera that pans and tilts."""

from __future__ import annotations

import linkwork as lw
from linkwork.models import Model


def pan_tilt() -> lw.Linkage:
    """Return a camera on two joints that looks along x."""
    b = lw.Builder("pan_tilt")
    b.revolute("pan", "neck", axis="z", limits=("-170deg", "170deg"))
    b.revolute("tilt", "camera", at=(0, 0, 0.1), axis="-y", limits=("-30deg", "80deg"))
    b.frame("lens", at=(0.05, 0, 0))
    return b.build()


def look_about(camera: lw.Linkage) -> lw.Clip:
    """Return a short motion that shows the model."""
    keys = [(0.0, {"pan": 0.0}), (1.0, {"pan": 1.0, "tilt": 0.5}), (2.0, {"pan": 0.0})]
    return lw.interpolate(camera, keys, fps=24)


MODEL = Model(pan_tilt, "arm", "A camera that pans and tilts.", look_about, "pan_tilt")
