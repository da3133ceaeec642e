"""What `make docs` adds to the pages: contents from the plain index, headers, notebooks. Sphinx is not needed."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]


def load(name: str):
    specification = importlib.util.spec_from_file_location(name, SOURCE / "docs" / "site" / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_headings_of_the_index_become_contents():
    start = "## Start\n\n- [One](one.md): words\n- [Two](sub/two.md#part)\n\n"
    index = f"# Title\n\n[not in a list](a.md)\n\n{start}## Words\n\nNone.\n"
    assert load("navigation").contents(index) == "```{toctree}\n:hidden:\n:caption: Start\n\none\nsub/two\n```\n"


def test_every_page_is_in_the_contents():
    """But for the index itself: what is not would be a warning of Sphinx."""
    contents = load("navigation").contents((SOURCE / "docs" / "index.md").read_text(encoding="utf-8")).splitlines()
    pages = {page.stem for page in (SOURCE / "docs").glob("*.md")} - {"index"}
    assert pages <= set(contents)


def test_headers_are_shown_with_their_first_comment(tmp_path):
    (tmp_path / "b.h").write_text("// What it is for.\n// More.\n#pragma once\nint b();\n")
    (tmp_path / "a.h").write_text("#pragma once\n")
    page = load("stage").headers_page(tmp_path)
    assert page.index("## a.h") < page.index("## b.h")
    assert "## b.h\n\nWhat it is for.\nMore.\n\n````cpp\n#pragma once\nint b();\n````\n" in page


def test_cells_of_a_notebook_become_a_page(tmp_path):
    cells = [{"cell_type": "markdown", "source": ["# T\n", "w"]}, {"cell_type": "code", "source": ["x = 1"]}]
    (tmp_path / "n.ipynb").write_text(json.dumps({"cells": cells}))
    assert load("stage").notebook_page(tmp_path / "n.ipynb").startswith("# T\nw\n\n```python\nx = 1\n```\n")


def test_what_cells_of_a_notebook_showed_becomes_a_page_too(tmp_path):
    picture = {"data": {"image/png": "UE5H", "text/plain": ["<Axes>"]}}
    printed = {"output_type": "stream", "text": ["1 of 2\n"]}
    table = {"data": {"text/html": ["<table></table>"], "text/plain": ["x"]}}
    cells = [{"cell_type": "code", "source": ["x"], "outputs": [printed, table, picture]}]
    (tmp_path / "n.ipynb").write_text(json.dumps({"cells": cells}))
    pictures: dict[str, bytes] = {}
    page = load("stage").notebook_page(tmp_path / "n.ipynb", pictures)
    assert "```text\n1 of 2\n```" in page and "```{raw} html\n<table></table>\n```" in page
    assert pictures == {"n_0_2.png": b"PNG"} and "![n_0_2.png](n_0_2.png)" in page


def test_each_report_of_the_gallery_has_its_command():
    text = (SOURCE / "docs" / "gallery.md").read_text(encoding="utf-8")
    commands = load("stage").gallery_commands(text)
    assert len(commands) == text.count(".html)") >= 5
    assert all(f"-o {name}" in command for name, command in commands)
