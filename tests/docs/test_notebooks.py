"""Do the notebooks run from the first cell to the last? No Jupyter: what a cell ends with is asked for its HTML."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")
NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


def run_cell(source: str, place: str, namespace: dict) -> None:
    module = ast.parse(source, place)
    last = module.body.pop() if module.body and isinstance(module.body[-1], ast.Expr) else None
    exec(compile(module, place, "exec"), namespace)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), place, "eval"), namespace)
        html = getattr(value, "_repr_html_", None)
        if html is not None:
            assert "<" in html()


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_notebook_runs(notebook, tmp_path, monkeypatch):
    for package in ("monet", "pandas", "matplotlib"):
        pytest.importorskip(package, reason=f"the notebooks need {package}")
    monkeypatch.chdir(tmp_path)
    namespace: dict = {"__name__": "__main__"}
    for number, cell in enumerate(json.loads(notebook.read_text(encoding="utf-8"))["cells"], 1):
        if cell["cell_type"] == "code":
            run_cell("".join(cell["source"]), f"{notebook.name}, cell {number}", namespace)


def test_there_are_notebooks():
    assert [notebook.stem for notebook in NOTEBOOKS] == ["first_step", "hardware", "memory"]
