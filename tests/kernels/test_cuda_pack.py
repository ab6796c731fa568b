"""GPU kernels compiled ahead of time: reading, refused files, and building one."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from cuda_cases import why_not
from linkwork.errors import DeviceError

if why_not():
    pytest.skip(why_not(), allow_module_level=True)

from linkwork.kernels import cuda_pack
from linkwork.kernels.pack import PackError
from linkwork.kernels.sources import source_hash


def written(path: Path, **listing: object) -> Path:
    """Write a file with one kernel."""
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("cards.json", json.dumps({"format": 1, "sources": source_hash(cards=True), **listing}))
        file.writestr("float32-8/race.ptx", "// race")
    return path


def test_kernels_are_read_by_group_and_name(tmp_path: Path) -> None:
    assert cuda_pack.read(written(tmp_path / "cards.zip")) == {"float32-8": {"race": "// race"}}


def test_what_is_missing_damaged_or_of_other_sources_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cards.zip"
    with pytest.raises(PackError, match="none"):
        cuda_pack.read(path)
    for listing, why in (({"sources": "other"}, "other sources"), ({"format": 0}, "format 1")):
        with pytest.raises(PackError, match=why):
            cuda_pack.read(written(path, **listing))
    whole = written(path).read_bytes()
    flipped = whole.replace(b"// race", b"// rate")  # the checksum differs
    for content in (b"", whole[: len(whole) // 2], b"PK" + bytes(100), flipped):
        path.write_bytes(content)
        with pytest.raises(PackError, match="damaged"):
            cuda_pack.read(path)


def test_sources_of_cards_count_for_cards_alone(tmp_path: Path) -> None:
    (tmp_path / "chain.py").write_text("a", encoding="utf-8")
    before = source_hash(tmp_path), source_hash(tmp_path, cards=True)
    (tmp_path / "cuda_chain.py").write_text("b", encoding="utf-8")
    source_hash.cache_clear()
    assert source_hash(tmp_path) == before[0]
    assert source_hash(tmp_path, cards=True) != before[1]


@pytest.mark.skipif(not cuda_pack.KNOWN, reason="numba-cuda is not a version that is known")
def test_a_kernel_is_compiled_without_a_card() -> None:
    from linkwork.kernels.cuda import unusable

    try:
        text = cuda_pack.compile_ahead("chain/widen")
    except (DeviceError, *unusable()) as error:
        pytest.skip(f"CUDA's compiler cannot be used: {error}")
    assert ".visible .entry widen(" in text
    assert f".version {cuda_pack.PTX}" in text
