"""Goals that a page assembles: arrays and answers are those of Python."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkages import one_joint, random_tree
from linkwork.kernels.web import WEB_HOME
from linkwork.linkage.joints import Ball
from linkwork.linkage.linkage import Linkage

WEB = Path(__file__).parents[2] / "web"


def wishes(linkage: Linkage, leans: bool) -> list[dict[str, Any]]:
    """Return goals in the form of a page: a position, two held links, one with orientation, maybe a preferred pose."""
    links = [name for name in linkage.links if linkage.path_to(name)[0] and linkage.evaluator.moving_rows(name).any()]
    held = [{"frame": links[-1], "orientation": True}, {"frame": links[len(links) // 2]}]
    leaning: list[dict[str, Any]] = [{"rest": True}] if leans else []
    return [{"frame": linkage.frames[-1]}, *(w for w in held if w["frame"] != linkage.frames[-1]), *leaning]


def goal(linkage: Linkage, wish: dict[str, Any], q: Any) -> Any:
    """Return such a goal in Python, with the target from a pose."""
    if "rest" in wish:
        return lw.Rest(q)
    place = linkage.forward(q, frame=wish["frame"])
    if wish.get("orientation"):
        return lw.Reach(wish["frame"], pose=place)
    return lw.Reach(wish["frame"], position=place[:3, 3])


LINKAGES = {
    "panda": lw.models.panda,
    "human": lambda: lw.models.human(root="floating"),
    "quadruped": lw.models.quadruped,
    "hand": lw.models.hand,
    "four-bar": lw.models.four_bar,
    "jansen": lw.models.jansen_leg,
    "engine": lw.models.engine,
    "scara": lw.models.scara,
    "pogo": lw.models.pogo_stick,
    "cones": lambda: one_joint(Ball(swing=0.8, twist=(-0.5, 0.5))),
    **{f"any joints {k}": partial(random_tree, np.random.default_rng(k), 12) for k in range(4)},
}


def write_cases(folder: Path) -> None:
    """Write linkages with goals packed by Python, and Python's answers for some of them."""
    for name, leans in product(LINKAGES, (False, True)):
        linkage = LINKAGES[name]()
        wanted = wishes(linkage, leans)
        start = linkage.stored_pose(next(iter(linkage.poses))) if linkage.poses else linkage.neutral()
        goals = [goal(linkage, wish, start) for wish in wanted]
        moved = linkage.pose(start) + 0.05 * (linkage.random_pose(5) - start) if not linkage.loops else start
        moved = linkage.clamp(moved)
        ik = lw.prepare(linkage, goals)
        aims = [goal(linkage, wish, moved) for wish in wanted]
        found = ik(aims, start=start, stay=True)
        case = {
            "wishes": wanted,
            "start": start.tolist(),
            "targets": [(moved if isinstance(aim, lw.Rest) else aim.target).ravel().tolist() for aim in aims],
            "known": {"q": found.q.tolist(), "success": bool(found.success), "status": found.status},
        }
        stem = f"{name}, leaning" if leans else name
        (folder / f"{stem}.json").write_text(linkage.pack({"given": goals}).to_json(), encoding="utf-8")
        (folder / f"{stem}.case.json").write_text(json.dumps(case), encoding="utf-8")


def test_arrays_and_answers_of_goals_chosen_in_a_page_are_those_of_python(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node; try: apt-get install nodejs")
    if not (WEB_HOME / "linkwork.wasm").exists():
        pytest.skip("linkwork.wasm is not built: python -m linkwork.kernels wasm")
    write_cases(tmp_path)
    names = {"LINKWORK_GOALS": str(tmp_path), "LINKWORK_WASM": str(WEB_HOME / "linkwork.wasm")}
    words = [node, "--test", WEB / "test" / "goals.test.mjs"]
    done = subprocess.run(
        words, env={**os.environ, **names}, capture_output=True, text=True, check=False, encoding="utf-8"
    )
    told = dict(re.findall(r"^(?:#|ℹ) (pass|fail|skipped) (\d+)$", done.stdout, re.MULTILINE))
    assert done.returncode == 0, done.stdout[-4000:]
    assert told["fail"] == told["skipped"] == "0"
    assert int(told["pass"]) >= 6 * len(LINKAGES)
    assert np.isfinite(json.loads((tmp_path / "panda.case.json").read_text(encoding="utf-8"))["start"]).all()


def test_words_and_the_stage_in_node() -> None:
    """Tests in node that need neither cases nor machine code."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node; try: apt-get install nodejs")
    plain = [
        path
        for path in sorted((WEB / "test").glob("*.test.mjs"))
        if "LINKWORK_" not in path.read_text(encoding="utf-8")
    ]
    done = subprocess.run([node, "--test", *plain], capture_output=True, text=True, check=False, encoding="utf-8")
    assert done.returncode == 0, done.stdout[-4000:]
    assert {path.name for path in plain} >= {"words.test.mjs"}
