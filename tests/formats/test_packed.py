"""Linkages packed for programs without Python: the text, the bytes, and their content."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from command_line import run
from linkwork.errors import GoalError, OptionError
from linkwork.kernels.chain_memory import search_table
from linkwork.solvers.chain_packing import WIDTHS

KINDS = {"f8": np.float64, "f4": np.float32, "i4": np.int32, "u1": np.uint8}


def read_bytes(data: bytes) -> Any:
    """Read packed bytes by the description in `docs/web.md`."""
    assert data[:8] == b"LINKWORK"
    version, length = struct.unpack("<II", data[8:16])
    assert version == 1

    def placed(value: dict[str, Any]) -> Any:
        if list(value) != ["array"]:
            return value
        kind, at, count = value["array"]
        begin = 16 + length + at
        assert begin % 8 == 0
        return np.frombuffer(data, KINDS[kind], count, begin).tolist()

    return json.loads(data[16 : 16 + length], object_hook=placed)


def goals() -> list[lw.Goal]:
    hands = [lw.Reach(f"{side}_hand", position=(0.3, y, 1.2)) for side, y in (("left", 0.2), ("right", -0.2))]
    return [lw.Hold("left_foot"), lw.Hold("right_foot", pose=np.eye(4)), *hands, lw.LookAt("eyes", at=(1, 0, 1.5))]


PACKS = {
    "panda": lambda: lw.models.panda().pack(["tip", "panda_link4"]),
    "planar": lambda: lw.models.planar([15, 10, 5]).pack({"xy": lw.Reach("tip", position=(1, 2))}),
    "bare": lambda: lw.models.snake(9).pack(),
    "human": lambda: lw.models.human().pack({"all": [*goals(), lw.Rest("stand")], "hand": "left_hand"}),
    "loop": lambda: lw.models.four_bar().pack(lw.Reach("point", position=(1, 2))),
}


@pytest.mark.parametrize("name", PACKS)
def test_text_and_bytes_hold_the_same_numbers(name: str) -> None:
    packed = PACKS[name]()
    text = json.loads(packed.to_json())
    assert read_bytes(packed.to_bytes()) == text
    linkage = {"text": text["coordinates"], "nq": text["nq"], "frames": text["frames"]}
    assert len(linkage["text"]) == linkage["nq"] == len(text["lower"]) == len(text["neutral"])
    assert len(text["tree"]["parents"]) == len(linkage["frames"])
    assert text["linkwork"] == lw.__version__


def test_numbers_come_back_to_the_bit_and_infinity_too() -> None:
    arm = lw.models.planar([2, 1])
    text = json.loads(arm.pack("tip").to_json())
    assert text["upper"] == [np.inf, np.inf]
    assert text["lower"] == [-np.inf, -np.inf]
    assert text["solvers"]["tip"]["numbers"] == lw.prepare(arm, "tip").numbers.tolist()


def test_the_table_of_starts_can_be_made_from_its_recipe() -> None:
    arm = lw.models.panda()
    solver = json.loads(arm.pack("tip").to_json())["solvers"]["tip"]
    starts = {name: np.array(value) if isinstance(value, list) else value for name, value in solver["starts"].items()}
    generator = np.random.Generator(np.random.PCG64())
    state: Any = generator.bit_generator.state
    generator.bit_generator.state = state | {
        "state": {"state": int(starts["state"]), "inc": int(starts["increment"])},
        "has_uint32": 0,
    }
    shares = [
        share * (generator.random((count, solver["values"])) - 0.5)
        for share, count in zip(starts["shares"], starts["counts"], strict=True)
    ]
    values = starts["low"] + (starts["high"] - starts["low"]) * (0.5 + np.concatenate(shares))
    world = arm.forward(values, frame="tip")
    world[:, :3, :3] = world[:, :3, :3] @ starts["rotation"].reshape(3, 3)
    frames = np.swapaxes(world[:, :3], 1, 2).reshape(-1, 12)
    constant = (starts["asked"] * frames[:, 9:] ** 2).sum(axis=1)
    rows = np.column_stack([constant, frames * starts["weights"]])
    kind = np.dtype(np.float64)
    made = search_table(rows, values, kind, WIDTHS[kind])
    np.testing.assert_array_equal(made, lw.prepare(arm, "tip").starts(np.float64))


def test_goals_are_known_by_their_frames() -> None:
    solver = lw.models.human().pack([*goals(), lw.Rest("stand"), lw.Rest("wave")]).data["solvers"]["body"]
    names = [goal["name"] for goal in solver["goals"]]
    assert names == ["left_foot", "right_foot", "left_hand", "right_hand", "eyes", "rest", "rest 2"]
    assert [goal["from_start"] for goal in solver["goals"]][:3] == ["place", "", ""]
    assert solver["above"]["which"] == [0, 1, 2, 3, 4]


def test_what_cannot_be_packed_is_said() -> None:
    body = lw.models.human()
    with pytest.raises(GoalError, match="Balance goal that takes its place"):
        body.pack([lw.Hold("left_foot"), lw.Balance()])
    with pytest.raises(OptionError, match="takes the name of a frame"):
        body.pack([1, 2])  # type: ignore[list-item]
    with pytest.raises(lw.errors.FrameNotFoundError, match="wirst"):
        lw.models.panda().pack("wirst")
    with pytest.raises(OptionError, match=r"must end in \.json"):
        body.pack().save("body.txt")


def test_the_command_writes_both_kinds(tmp_path: Path) -> None:
    arm = lw.models.panda()
    text, data = tmp_path / "panda.linkwork.json", tmp_path / "panda.linkwork"
    assert "solvers tip" in run("pack", "panda", str(text)).stdout
    assert text.read_text(encoding="utf-8") == arm.pack("tip").to_json()
    found = json.loads(run("pack", "panda", str(data), "--frame", "tip", "--position-only", "--json").stdout)
    assert found["bytes"] == data.stat().st_size
    assert found["solvers"] == ["tip"]
    assert data.read_bytes() == arm.pack(lw.Reach("tip", position=(0, 0, 0))).to_bytes()
    assert run("pack", "panda", str(tmp_path / "panda.txt")).exit_code == 2
