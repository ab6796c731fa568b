"""Files dropped on the studio: harmless ones are read, others refused, and nothing about the machine is revealed."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

import linkwork as lw
from linkwork import errors
from linkwork.studio import uploads
from linkwork.studio.uploads import Uploads
from uploading import upload

BROKEN = {
    "no.urdf": b"<robot name='x'><link name='a'>",
    "no.bvh": b"HIERARCHY\nROOT hip\n{",
    "no.yaml": b"linkwork: 2\nstudio: {targets: [{name: a}]}\n",
    "no.json": b'{"linkwork": 2, "links": ["a"], "studio": {"keys": [{"time": -1, "pose": []}]}}',
    "frame.yaml": b"linkwork: 2\nlinks: [a]\nstudio: {targets: [{name: a, kind: reach, frame: b, place: [[1]]}]}\n",
    "strange.exe": b"MZ",
    "nothing": b"",
}


BOX = b"""solid box
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid box
"""


def urdf(mesh):
    return f"""<robot name="spy"><link name="a"><visual><geometry><mesh filename="{mesh}"/></geometry></visual></link>
    <link name="b"/><joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>""".encode()


def zipped(files, **more):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        for name, target in more.items():
            link = zipfile.ZipInfo(name)
            link.external_attr = 0o120777 << 16
            archive.writestr(link, target)
    return data.getvalue()


@pytest.fixture
def reader(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = Uploads()
    yield made
    made.close()
    assert list(tmp_path.iterdir()) == []


def mesh_of(found):
    return found.scene.linkage.nodes[0].visuals[0].shape


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_upload_is_refused_by_its_own_name_and_leaves_nothing(name, tmp_path, reader):
    with pytest.raises(errors.FormatError) as caught:
        reader.read(upload({f"/etc/../{name}": BROKEN[name]}))
    assert name in str(caught.value)
    assert str(tmp_path) not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("pack", [False, True])
def test_a_folder_with_meshes_is_shown_with_them(pack, reader):
    files = {"robot/urdf/arm.urdf": urdf("package://robot/meshes/box.stl"), "robot/meshes/box.stl": BOX}
    found = reader.read(upload({"robot.zip": zipped(files)} if pack else files))
    assert found.name == "robot/urdf/arm.urdf"
    assert mesh_of(found).file is not None
    assert found.remarks == () or all("box.stl" not in remark.text for remark in found.remarks)


@pytest.mark.parametrize(
    "way", ["package://arm/secret.stl", "../../arm/secret.stl", "/tmp/secret.stl", "file:///SECRET", "SECRET"]
)
def test_no_mesh_of_this_machine_is_read_or_told_of(way, tmp_path, monkeypatch, reader):
    told = []
    for there in (True, False):
        home = tmp_path.parent / f"{tmp_path.name}-machine" / "arm"
        home.mkdir(parents=True, exist_ok=True)
        (home / "package.xml").write_text("<package/>", encoding="utf-8")
        (home / "secret.stl").unlink(missing_ok=True)
        if there:
            (home / "secret.stl").write_bytes(BOX)
        monkeypatch.setenv("ROS_PACKAGE_PATH", str(home.parent))
        found = reader.read(upload({"spy.urdf": urdf(way.replace("SECRET", str(home / "secret.stl")))}))
        assert mesh_of(found).file is None
        told.append([remark.text for remark in found.remarks])
        assert not any(str(reader.folders[-1]) in text for text in told[-1])
    assert told[0] == told[1]  # whether the file exists makes no difference


def test_links_and_paths_of_a_zip_lead_nowhere(tmp_path, reader):
    files = {"../../out.txt": b"x", "/abs.txt": b"x", "arm.urdf": urdf("link.stl")}
    found = reader.read(upload({"evil.zip": zipped(files, **{"link.stl": "/etc/passwd"})}))
    assert mesh_of(found).file is None
    (folder,) = reader.folders
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
    assert names == ["abs.txt", "arm.urdf", "out.txt"]
    assert not any(path.is_symlink() for path in folder.rglob("*"))
    assert not (tmp_path.parent / "out.txt").exists()


def test_bombs_and_floods_are_refused(monkeypatch, reader):
    monkeypatch.setattr(uploads, "LIMIT", 2**20)
    monkeypatch.setattr(uploads, "MOST_FILES", 50)
    bomb = zipped({"arm.urdf": b" " * 2**22})
    assert len(bomb) < 2**14
    for files, why in (
        ({"b.zip": bomb}, "larger than 1 MiB unpacked"),
        ({"f.zip": zipped({f"{k}.txt": b"" for k in range(60)})}, "holds 60 files"),
        ({"large.urdf": b" " * 2**21}, "larger than 1 MiB"),
        ({"no.zip": b"PK nothing"}, "as a ZIP"),
    ):
        with pytest.raises(errors.FormatError, match=why):
            reader.read(upload(files))


def test_a_damaged_zip_is_refused_and_says_what_is_wrong_once(monkeypatch, reader):
    whole = zipped({"arm.urdf": bytes(range(256)) * 4})
    start = whole.index(b"arm.urdf") + len("arm.urdf")
    for data in (
        whole[:start] + b"\xff" * 8 + whole[start + 8 :],  # not a stream that can be unpacked
        whole[5:],  # its table points before its beginning
    ):
        with pytest.raises(errors.FormatError, match=r"^robot.zip: cannot be opened as a ZIP: "):
            reader.read(upload({"robot.zip": data}))
    monkeypatch.setattr(uploads, "MOST_FILES", 1)
    with pytest.raises(errors.FormatError, match=r"^robot.zip: holds 2 files; the limit is 1\.$"):
        reader.read(upload({"robot.zip": zipped({"a.urdf": b"", "b.urdf": b""})}))


def test_units_and_up_are_chosen(reader):
    arm = lw.models.planar([2, 1])
    text = arm.to_urdf().encode() if hasattr(arm, "to_urdf") else urdf("none.stl")
    found = reader.read(upload({"arm.urdf": text}, units=0.01, up="y"))
    assert np.isfinite(found.scene.q).all()


def test_of_several_models_one_is_read_and_the_others_are_named(reader):
    files = {"b.bvh": b"x", "deep/a.urdf": urdf("x.stl"), "a.urdf": urdf("x.stl")}
    found = reader.read(upload(files))
    assert (found.name, found.others) == ("a.urdf", ("deep/a.urdf", "b.bvh"))
    assert reader.read(upload(files, main="deep/a.urdf")).name == "deep/a.urdf"


@pytest.mark.parametrize(
    ("name", "safe"),
    [("../../x.urdf", "x.urdf"), ("C:\\a\\b c.bvh", "b_c.bvh"), ("..", "upload"), ("", "upload"), (".x\0y", "x_y")],
)
def test_names_of_uploads_are_harmless(name, safe):
    assert uploads.safe_name(name) == safe


@pytest.mark.parametrize("message", [b"", b"abc", b"\xff\xff\xff\xff{}", upload({}), upload({"a.urdf": b"x"})[:-1]])
def test_messages_that_do_not_fit_are_refused(message, reader):
    with pytest.raises(errors.FormatError):
        reader.read(message)
