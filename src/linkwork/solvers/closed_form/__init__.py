"""Closed forms: every pose that brings a frame to a target, exactly, for arms whose axes allow it.

`axes` describes an arm by lines, `recognition` finds its family, `form` has the public class, and `general` handles any
six revolute joints.
"""

from __future__ import annotations

from .axes import Axes, axes_of
from .finding import closed_form, form_of
from .form import Answers, ClosedForm, NoForm

__all__ = ["Answers", "Axes", "ClosedForm", "NoForm", "axes_of", "closed_form", "form_of"]
