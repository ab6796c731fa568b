"""Films: selection of frames, playable videos, numbered pictures, and the common command."""

from __future__ import annotations

import errno
import io
import json
import re
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import children
import linkwork as lw
from linkwork.cli import app as cli
from linkwork.draw import film, film_range, films, mp4
from linkwork.errors import FormatError, MissingExtraError, NotFoundError, OptionError

SMALL = {"size": (1.2, 1.0)}


@pytest.fixture
def arm():
    return lw.models.planar([2.0, 1.0])


@pytest.fixture
def clip(arm):
    """One second at 20 frames per second, both joints at constant speed."""
    return lw.interpolate(arm, [(0, [0, 0]), (1, [1, 2])], fps=20, kind="linear")


def cut(clip, *, most=50.0, even=True, **wish):
    return film_range.film_frames(clip, film_range.FilmRange(**wish), most=most, what="a film", even=even)


# Which frames


def test_by_default_a_film_shows_the_frames_of_the_clip(clip):
    whole = cut(clip)
    assert np.array_equal(whole.poses, clip.poses)
    assert np.array_equal(whole.numbers, np.arange(21))
    assert whole.rate == pytest.approx(20.0)


@pytest.mark.parametrize(
    ("wish", "moments", "seconds"),
    [
        ({"start": 0.25, "end": 0.5}, np.arange(5, 11) / 20, 0.25),
        ({"fps": 10}, np.arange(11) / 10, 1.0),
        ({"fps": 4, "speed": 0.5}, np.arange(9) / 8, 2.0),
        ({"speed": 2.0}, np.arange(11) / 10, 0.5),
        ({"frames": 3}, [0.0, 0.5, 1.0], 1.0),
        ({"frames": 3, "start": 0.5, "speed": 0.25}, [0.5, 0.75, 1.0], 2.0),
        ({"start": 0.33, "end": 0.33}, [0.33], 0.0),
    ],
)
def test_a_piece_at_a_speed_and_rate(clip, wish, moments, seconds):
    piece = cut(clip, **wish)
    assert piece.moments == pytest.approx(np.array(moments))
    assert piece.poses == pytest.approx(np.outer(moments, [1, 2]))  # the motion is linear in time
    assert piece.times[0] == 0.0
    assert piece.times[-1] == pytest.approx(seconds)
    assert piece.as_clip(clip).times == pytest.approx(piece.times)


def test_uneven_times_are_evened_out_where_the_film_needs_it(arm):
    times = np.array([0.0, 0.1, 0.3, 0.4, 0.5])
    uneven = lw.Clip(arm, times, np.outer(times, [1.0, 2.0]))
    assert np.array_equal(cut(uneven, even=False).moments, times)
    assert cut(uneven).moments == pytest.approx(np.arange(6) / 10)


def test_faster_clips_are_thinned_to_what_a_film_can_show(arm):
    fast = lw.Clip(arm, np.arange(241) / 240.0, np.zeros((241, 2)))
    assert cut(fast, most=30.0).rate == pytest.approx(30.0)


def test_a_trail_is_finer_than_the_film_and_passes_its_frames(clip):
    coarse = cut(clip, fps=2)
    splits, fine = coarse.refined(clip)
    assert splits == 20
    assert fine.times[::splits] == pytest.approx(coarse.moments)


WRONG = {
    "fps and frames": ({"fps": 5, "frames": 5}, "give one of them"),
    "no frames": ({"frames": 0}, "whole number from 1"),
    "half a frame": ({"frames": 2.5}, "whole number from 1"),
    "too many frames": ({"frames": 400}, "too many for a film"),
    "fps of nothing": ({"fps": 0}, "more than 0"),
    "fps of words": ({"fps": "fast"}, "more than 0"),
    "too fast": ({"fps": 51}, "at most 50"),
    "no speed": ({"speed": 0.0}, "from 0.001 to 1000"),
    "speed of no number": ({"speed": float("nan")}, "a number"),
    "too early": ({"start": -1.0}, "from 0 to 1 s"),
    "too late": ({"end": 1.5}, "from 0 to 1 s"),
    "backwards": ({"start": 0.8, "end": 0.2}, "end is before"),
    "far too long": ({"fps": 50, "speed": 0.001, "end": 1.0}, "too long"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wishes_that_cannot_be_met_are_refused_and_nothing_is_written(what, clip, tmp_path):
    wish, message = WRONG[what]
    with pytest.raises(OptionError, match=message):
        cut(clip, **wish)
    with pytest.raises(OptionError):
        film(clip, tmp_path / "a.gif", **wish)
    assert not list(tmp_path.iterdir())


# Videos


def frames_of(path):
    """Return the codec, size, rate and frames of a video, as ffmpeg reads them."""
    ffmpeg = mp4.program()
    about = children.run([ffmpeg, "-hide_banner", "-i", path], text=True, encoding="utf-8").stderr
    codec, width, height, rate = re.search(r"Video: (\w+).*? (\d{2,5})x(\d{2,5}).*? ([\d.]+) fps", about).groups()
    raw = children.run([ffmpeg, "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]).stdout
    frames = np.frombuffer(raw, np.uint8).reshape(-1, int(height), int(width), 3).astype(int)
    return codec, (int(width), int(height)), float(rate), frames


def test_a_video_has_thirty_frames_a_second_in_the_time_of_the_clip(clip, tmp_path):
    calls = []
    film(clip, tmp_path / "a.mp4", trail="tip", size=(1.3, 1.1), progress=lambda *done: calls.append(done))
    codec, size, rate, frames = frames_of(tmp_path / "a.mp4")
    assert (codec, size, rate) == ("h264", (260, 220), 30.0)
    assert len(frames) == 31
    assert np.abs(frames[0] - frames[30]).mean() > 2.0
    assert calls == [(k, 31) for k in range(1, 32)]
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]


def test_a_video_shows_what_pictures_show(clip, tmp_path):
    film(clip, tmp_path / "a.mp4", frames=3, **SMALL)
    film(clip, tmp_path / "a_%d.png", frames=3, **SMALL)
    *_, frames = frames_of(tmp_path / "a.mp4")
    for k, frame in enumerate(frames):
        with Image.open(tmp_path / f"a_{k}.png") as image:
            still = np.asarray(image.convert("RGB")).astype(int)
        assert still.shape == (200, 240, 3)
        assert np.abs(still - frame).mean() < 4.0


def test_odd_sizes_lose_their_last_line(tmp_path):
    shades = [np.full((33, 51, 3), shade, np.uint8) for shade in (0, 120, 250)]
    with (tmp_path / "a.mp4").open("wb") as file:
        mp4.write_mp4(file, shades, 12.5)
    _, size, rate, frames = frames_of(tmp_path / "a.mp4")
    assert (size, rate) == ((50, 32), 12.5)
    assert [frame.mean() for frame in frames] == pytest.approx([0, 120, 250], abs=4)


def test_a_video_that_stops_leaves_nothing_behind(clip, tmp_path):
    (tmp_path / "old.mp4").write_bytes(b"old")

    def stop(done, total):
        raise KeyboardInterrupt

    for name in ("a.mp4", "old.mp4", "a_%d.png"):
        with pytest.raises(KeyboardInterrupt):
            film(clip, tmp_path / name, progress=stop, **SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["old.mp4"]
    assert (tmp_path / "old.mp4").read_bytes() == b"old"


def test_an_ffmpeg_that_fails_is_quoted(clip, tmp_path, monkeypatch):
    script, lines = tmp_path / "ffmpeg", "#!/bin/sh\necho 'disk full' >&2\nexit 1\n"
    if sys.platform == "win32":
        script, lines = tmp_path / "ffmpeg.bat", "@echo disk full 1>&2\n@exit 1\n"
    script.write_text(lines, encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setattr(mp4, "program", lambda: str(script))
    with pytest.raises(FormatError, match="could not be made: disk full"):
        film(clip, tmp_path / "a.mp4", **SMALL)
    assert list(tmp_path.iterdir()) == [script]


def test_ffmpeg_is_the_systems_or_the_extras_or_missing(clip, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert mp4.program() == "/usr/bin/ffmpeg"
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'linkwork\[video\]'"):
        film(clip, tmp_path / "a.mp4", **SMALL)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("known", "chosen"), [("libx264", "libx264"), ("libopenh264", "libopenh264"), ("", "mpeg4")])
def test_the_best_encoder_there_is_is_taken(known, chosen, monkeypatch):
    def run(*args, **options):
        return subprocess.CompletedProcess(args, 0, stdout=f" V..... mpeg4  MPEG-4\n V..... {known}  H.264\n".encode())

    monkeypatch.setattr(mp4.subprocess, "run", run)
    assert mp4.encoder("ffmpeg") == chosen


# Pictures


def test_a_strip_has_as_many_panels_as_are_asked_for(clip):
    assert film_range.strip_frames(clip, film_range.FilmRange(), 5) == [0, 5, 10, 15, 20]
    assert film_range.strip_frames(clip, film_range.FilmRange(frames=3, start=0.5), 5) == [10, 15, 20]
    assert film_range.strip_frames(clip, film_range.FilmRange(frames=30, end=0.1), 5) == [0, 1, 2]
    with pytest.raises(OptionError, match="speed and fps do not apply to a strip of pictures"):
        film_range.strip_frames(clip, film_range.FilmRange(fps=5), 5)
    with pytest.raises(lw.LinkworkError, match="no frame from"):
        film_range.strip_frames(clip, film_range.FilmRange(start=0.01, end=0.02), 5)


def test_a_png_is_the_strip_that_draw_makes(clip, tmp_path):
    film(clip, tmp_path / "a.png", frames=4, trail="tip", title="Arm")
    lw.draw.strip(clip, frames=[0, 7, 13, 20], trail="tip", title="Arm", path=tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


@pytest.mark.parametrize("name", ["%s.png", "a%d%d.png", "100%.png", "%d%n.png", "a%9999d.png"])
def test_names_with_other_signs_are_refused_or_taken_as_they_stand(name, clip, tmp_path):
    try:
        film(clip, tmp_path / name, frames=1, **SMALL)
    except FormatError as error:
        assert "one number" in str(error)  # noqa: PT017 - either is right
        assert not list(tmp_path.iterdir())
    else:
        assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_page_takes_no_size_and_a_trail_needs_a_frame(clip, tmp_path):
    with pytest.raises(OptionError, match="fills its window"):
        film(clip, tmp_path / "a.html", size=(3, 3))
    for suffix in films.FILMS:
        with pytest.raises(NotFoundError, match="no frame 'tipp'"):
            film(clip, tmp_path / f"a{suffix}", trail="tipp")
    assert not list(tmp_path.iterdir())


# The command


def run(*words):
    return CliRunner().invoke(cli.app, ["animate", *map(str, words)], prog_name="linkwork")


@pytest.mark.parametrize(
    ("name", "signature"),
    [("a.html", b"<!doctype html>"), ("a.gif", b"GIF89a"), ("a.png", b"\x89PNG"), ("a.mp4", b"\0\0\0\x20ftyp")],
)
def test_one_command_makes_every_film(name, signature, tmp_path):
    size = [] if name == "a.html" else ["--size", "320x240"]
    result = run("two_link", "-o", tmp_path / name, "--frames", 3, "--trail", "tip", *size, "--json")
    assert result.exit_code == 0, result.output
    assert (tmp_path / name).read_bytes().startswith(signature)
    told = json.loads(result.stdout)
    assert told["bytes"] == (tmp_path / name).stat().st_size
    assert told["motion"] == {"frames": 73, "seconds": 3.0}
    if name in ("a.gif", "a.png"):
        with Image.open(tmp_path / name) as image:
            assert image.size == (320, 240)


@pytest.mark.parametrize("name", ["a.glb", "a.bvh", "a.usda", "a.npz"])
def test_motions_for_other_programs_are_cut_too(name, tmp_path):
    result = run("snake:5", "-o", tmp_path / name, "--from", 0.5, "--until", 1.5, "--speed", 0.5, "--fps", 10)
    assert result.exit_code == 0, result.output
    found = lw.load_clip(tmp_path / name)
    whole = lw.models.motion("snake:5")
    assert found.times[-1] - found.times[0] == pytest.approx(2.0, abs=1e-4)
    head = whole.linkage.links[-1]
    expected = whole.forward(frame=head)[12, :3, 3]
    if name == "a.npz":
        assert found.forward(frame=head)[0, :3, 3] == pytest.approx(expected)


def test_a_file_plays_with_its_own_skeleton_and_by_the_name_of_its_motion(tmp_path):
    lw.save(lw.models.motion("human:floating"), tmp_path / "walk.bvh")
    result = run(tmp_path / "walk.bvh", "-o", tmp_path / "walk.html", "--trail", "head")
    assert result.exit_code == 0, result.output
    assert "walk" in (tmp_path / "walk.html").read_text(encoding="utf-8")
    lw.save(lw.models.motion("panda"), tmp_path / "panda.glb")
    assert run(tmp_path / "panda.glb", "--clip", "clip", "-o", tmp_path / "b.html").exit_code == 0
    wrong = run(tmp_path / "panda.glb", "--clip", "run", "-o", tmp_path / "c.html")
    assert wrong.exit_code == 2
    assert "no clip 'run'" in wrong.stderr


def test_a_scene_goes_through_its_poses_and_numbers_need_a_linkage(tmp_path):
    lw.save(lw.models.panda(), tmp_path / "panda.yaml")
    assert run(tmp_path / "panda.yaml", "-o", tmp_path / "a.html").exit_code == 0
    lw.models.motion("two_link").save(tmp_path / "moves.csv")
    assert run(tmp_path / "moves.csv", "--linkage", "two_link", "-o", tmp_path / "b.html").exit_code == 0


def test_without_a_file_it_is_a_page_and_a_dash_is_stdout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("two_link").exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["two_link.html"]
    assert run("two_link", "-o", "-").stdout == (tmp_path / "two_link.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "a.avi"], "must end in .html, .mp4, .gif, .png"),
        (["-o", "no/a.html"], "there is no folder"),
        (["-o", "a.gif", "--size", "8,6"], "960x540"),
        (["-o", "a.gif", "--size", "0x0"], "960x540"),
        (["-o", "a.gif", "--view", "below"], "front, side, top"),
        (["-o", "a.glb", "--trail", "tip"], "holds the motion itself"),
        (["-o", "a.html", "--clip", "walk"], "are for files"),
        (["-o", "a.html", "--until", "9"], "from 0 to 3 s"),
    ],
)
def test_wrong_usage_is_one_line(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("two_link", *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "error", [BrokenPipeError(errno.EPIPE, "Broken pipe"), OSError(errno.EINVAL, "Invalid argument")]
)
def test_an_ffmpeg_that_has_died_is_said_however_the_system_says_it(error, monkeypatch):
    class Pipe:
        def write(self, _data=None):
            raise error

        close = write if error.errno == errno.EPIPE else lambda _self: None

    class Dead:
        returncode, stdin = 0, Pipe()
        wait = kill = lambda _self: None

    def start(*given):
        given[-1].touch()
        return Dead(), Dead.stdin

    monkeypatch.setattr(mp4, "_start", start)
    with pytest.raises(FormatError, match="the video could not be made"):
        mp4.write_mp4(io.BytesIO(), [np.zeros((4, 4, 3), np.uint8)] * 3, 25.0)
