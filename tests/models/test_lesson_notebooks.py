"""Lessons as notebooks: valid, with the code of the page, executable in Jupyter."""

from __future__ import annotations

import json
import re

import pytest

import linkwork as lw
from linkwork.models.lessons import Exercise, Lesson, course, notebooks, pages
from test_docs import blocks

LESSONS = lw.learn.all_lessons()
PAGE = """# Made up

Words with $x_1$ and a [lesson](02-next.md#there), a [page](../kinematics.md) and a [site](https://example.org).

<linkwork-figure name="follow" method="damped" start-pose="0.1,0.2"></linkwork-figure>

```python
x = 1 + 1  # -> 2
```

```console
$ linkwork info panda
```

```python
>>> x
2
>>> y = x
>>> y + 1
3
```

```yaml title="lamp.yaml"
name: "lamp"
```

<!-- exercise 1.1 -->

The end.
"""


def test_a_page_becomes_cells(monkeypatch):
    made = Lesson(1, "made-up", "Made up", "5.1", (), (Exercise("What?", lambda: 2.0, unit="m"),))
    monkeypatch.setattr(course, "all_lessons", lambda: (made,))
    cells = notebooks.converted(PAGE, made)["cells"]
    found = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    assert found == [
        (
            "markdown",
            "# Made up\n\nWords with $x_1$ and a [lesson](02-next.ipynb), a page and a [site](https://example.org).",
        ),
        ("code", 'import linkwork as lw\n\nlw.draw.live("follow", method="damped", start_pose="0.1,0.2")'),
        ("code", "x = 1 + 1  # -> 2"),
        ("markdown", "```console\n$ linkwork info panda\n```"),
        ("code", "x"),
        ("code", "y = x\ny + 1"),
        ("code", "from pathlib import Path\n\nPath('lamp.yaml').write_text('name: \"lamp\"\\n')"),
        ("markdown", "**Exercise 1.1.** What? (a number, in m)"),
        ("code", 'lw.learn.check("1.1", ...)'),
        ("markdown", "The end."),
    ]
    assert [cell["id"] for cell in cells][:2] == ["lesson-1-1", "lesson-1-2"]


@pytest.mark.parametrize("one", LESSONS, ids=lambda one: one.name)
def test_every_lesson_is_a_valid_notebook_with_the_code_of_its_page(one):
    nbformat = pytest.importorskip("nbformat")
    made = lw.learn.notebook(one.number)
    nbformat.validate(made)
    sources = ["".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "code"]
    for block in blocks(pages.folder() / one.page):
        if block.language == "python" and not block.text.lstrip().startswith(">>>"):
            assert block.text.rstrip("\n") in sources
    text = "\n".join("".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "markdown")
    assert not re.search(r"<linkwork|<!--|^!!!|^\?\?\?|!\[|\.md\)", text, re.MULTILINE)  # no syntax of MkDocs
    assert sum("lw.learn.check" in source for source in sources) == len(one.exercises)


@pytest.mark.parametrize("one", LESSONS, ids=lambda one: one.name)
def test_what_notebooks_add_to_a_page_runs(one):
    """`test_docs` runs the code of pages; this runs the additional cells for figures and exercises."""
    for cell in lw.learn.notebook(one.number)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and ("lw.draw.live(" in source or "lw.learn.check(" in source):
            shown = eval(source.splitlines()[-1], {"lw": lw})
            assert shown._repr_html_()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Proactor event loop:RuntimeWarning")  # of ZeroMQ on Windows
def test_all_lessons_run_in_jupyter(tmp_path):
    """One kernel runs the cells of all notebooks; figures and exercises are shown as HTML."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    made = [nbformat.read(lw.learn.save_notebook(one.number, tmp_path), as_version=4) for one in LESSONS]
    cells = [cell for lesson in made for cell in lesson.cells if cell.cell_type == "code"]
    whole = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(whole, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output.data.get("text/html", "") for cell in cells for output in cell.outputs if "data" in output]
    figures = sum("lw.draw.live(" in cell.source for cell in cells)
    assert sum("<iframe srcdoc" in html for html in shown) >= figures >= len(LESSONS)
    assert sum("in place of the dots" in html for html in shown) == sum(len(one.exercises) for one in LESSONS)


def test_a_notebook_with_answers_is_not_written_over(tmp_path):
    path = lw.learn.save_notebook(8, tmp_path)
    assert json.loads(path.read_text(encoding="utf-8"))["nbformat"] == 4
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(lw.errors.FormatError, match="perhaps with your answers"):
        lw.learn.save_notebook(8, tmp_path)
    lw.learn.save_notebook(8, tmp_path, replace=True)
    assert path.read_text(encoding="utf-8") != "{}"
    with pytest.raises(lw.errors.FormatError, match="there is no folder"):
        lw.learn.save_notebook(8, tmp_path / "nowhere")
