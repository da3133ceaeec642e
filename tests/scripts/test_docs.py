"""Does the check of the documents find what is absent, and nothing else?"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "check_docs.py"
TABLE = "| what | function | test |\n|---|---|---|\n"


def check(root: Path, model: str, others: dict[str, str] | None = None) -> list[str]:
    """Problems in a small project whose docs/model.md has this text, and which has these other files."""
    files = {
        "README.md": "[model](docs/model.md)\n",
        "docs/index.md": "[model](model.md#here)\n",
        "docs/model.md": model,
        **(others or {}),
        "src/graph/nests.h": "Counts counts_of(int x);\n",
        "tests/graph/model_test.cpp": "TEST(Model, Counts) {}\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    done = subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True, check=False)
    problems = done.stdout.splitlines()[:-1]
    assert done.returncode == (1 if problems else 0)
    return problems


def test_what_exists_is_accepted(tmp_path):
    row = "| a | `counts_of` | `Model.Counts` |\n"
    code = "```cpp\n[](gone) {}\n```\n`[](gone)`\n"
    assert (
        check(tmp_path, code + TABLE + row + "`src/graph/nests.h`, `tests/ROOM/NAME_test.cpp`, [up](../README.md)\n")
        == []
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[gone](gone.md)", "link to gone.md"),
        ("`src/graph/gone.h`", "src/graph/gone.h is absent"),
        ("`Model.Gone`", "no test is called Model.Gone"),
        (TABLE + "| a | `gone` | `Model.Counts` |", "no header has a function gone"),
        (TABLE + "| a | | `Model.Counts` |", "names no function"),
        (TABLE + "| a | `counts_of` | |", "names no test"),
    ],
)
def test_what_is_absent_is_found_at_its_line(tmp_path, line, message):
    problems = check(tmp_path, line + "\n")
    assert len(problems) == 1
    assert problems[0].startswith(f"docs/model.md:{len(line.splitlines())}: ")
    assert message in problems[0]


def test_every_page_is_reached_from_the_index(tmp_path):
    pages = {"docs/far.md": "", "docs/alone.md": "[model](model.md)\n"}
    assert check(tmp_path, "[further](far.md)\n", pages) == ["docs/alone.md: no way leads here from docs/index.md"]


def notebook(**code) -> str:
    cells = [
        {"cell_type": "markdown", "source": ["[up](../README.md)"]},
        {"cell_type": "code", "source": ["x"], "outputs": [], "execution_count": 1, **code},
    ]
    return json.dumps({"cells": cells})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (notebook(), None),
        (notebook(execution_count=None), "cell 2 was not run"),
        (notebook().replace("README", "GONE"), "cell 1: link to ../GONE.md"),
        ("{}", "this is no notebook"),
        ("cells", "this is no notebook"),
    ],
)
def test_notebooks_were_run_and_have_links_that_lead_somewhere(tmp_path, text, message):
    problems = check(tmp_path, "", {"notebooks/a.ipynb": text})
    assert len(problems) == (message is not None)
    for problem in problems:
        assert problem.startswith("notebooks/a.ipynb: ")
        assert message in problem
