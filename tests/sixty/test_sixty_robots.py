"""The contract for sixty robots, checked by other libraries: kinematics, masses, 200 goals per chain, a path."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest

from contract import Report, judged
from sixty_robots import SIXTY, installed

pytest.importorskip("pinocchio", reason="Pinocchio is not installed", exc_type=ImportError)
pytest.importorskip("mujoco", reason="MuJoCo (extra formats) is not installed")

SAME = 1e-9
JUMP = 0.5  # step that the path does not require [rad or m]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its log there


@lru_cache(maxsize=1)
def report_on(name: str) -> Report:
    return judged(installed(name))


def test_there_are_sixty() -> None:
    assert len(SIXTY) == 60


@pytest.mark.parametrize("name", SIXTY)
def test_a_robot_keeps_the_contract(name: str) -> None:
    report = report_on(name)
    assert not report.refused
    assert not report.peer_refused
    assert not report.trouble
    assert report.places is not None
    assert report.places < SAME
    assert report.jacobian is not None
    assert report.jacobian < SAME
    assert report.mass is not None
    assert report.mass <= SAME * max(report.peer_mass or 0.0, 1.0)
    assert report.center is None or report.center < SAME
    assert report.chains
    for chain in report.chains:
        assert chain.asked < 0.15
        assert (chain.reached, chain.false) == (chain.goals, 0), chain
        assert chain.step <= JUMP, chain
