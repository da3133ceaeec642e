"""Do the notebooks run from the first cell to the last, and show what is stored in them? No Jupyter: what a cell ends with
is asked for what it looks like. MONET_UPDATE_DOCS=1 stores what they show now."""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import re
from pathlib import Path

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")
NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


def picture() -> str | None:
    """The figure that a cell drew, as PNG without what differs by version and time."""
    from matplotlib import pyplot

    if not pyplot.get_fignums():
        return None
    content = io.BytesIO()
    pyplot.gcf().savefig(content, format="png", dpi=72, bbox_inches="tight", metadata={"Software": None})
    pyplot.close("all")
    return base64.b64encode(content.getvalue()).decode()


def run_cell(source: str, place: str, namespace: dict) -> list[dict]:
    """What a notebook shows under a cell."""
    module = ast.parse(source, place)
    last = module.body.pop() if module.body and isinstance(module.body[-1], ast.Expr) else None
    outputs, printed = [], io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(module, place, "exec"), namespace)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), place, "eval"), namespace)
    if source.rstrip().endswith(";"):
        value = None
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)})
    drawn = picture()
    html = getattr(value, "_repr_html_", None)
    data: dict = {}
    if drawn is not None:
        data = {"image/png": drawn, "text/plain": ["<Axes>"]}
    elif html is not None:
        data = {"text/html": html().splitlines(keepends=True), "text/plain": repr(value).splitlines(keepends=True)}
        assert "<" in html()
    elif value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
    if data:
        outputs.append({"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return outputs


def comparable(outputs: list[dict]) -> list:
    """But for times, places and the pixels of pictures."""
    shown = []
    for output in outputs:
        data = {"text/plain": output["text"]} if "text" in output else output["data"]
        kind = "image/png" if "image/png" in data else "text/plain"
        text = "picture" if kind == "image/png" else "".join(data[kind])
        text = re.sub(r"/\S*/|0x[0-9a-f]+", "", text)
        shown.append(re.sub(r"[0-9.]+ m?s\b|[0-9.]+ (of them )?a second|wall\S* *[0-9.]+|store: .*", "TIME", text))
    return shown


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_notebook_runs(notebook, tmp_path, monkeypatch):
    for package in ("monet", "pandas", "matplotlib"):
        pytest.importorskip(package, reason=f"the notebooks need {package}")
    monkeypatch.chdir(tmp_path)
    namespace: dict = {"__name__": "__main__"}
    stored = json.loads(notebook.read_text(encoding="utf-8"))
    different, count = [], 0
    for number, cell in enumerate(stored["cells"], 1):
        if cell["cell_type"] != "code":
            continue
        count += 1
        outputs = run_cell("".join(cell["source"]), f"{notebook.name}, cell {number}", namespace)
        for output in outputs:
            if "execution_count" in output:
                output["execution_count"] = count
        if comparable(outputs) != comparable(cell["outputs"]):
            different.append(number)
        cell["outputs"], cell["execution_count"] = outputs, count
    if os.environ.get("MONET_UPDATE_DOCS"):
        text = json.dumps(stored, indent=1, ensure_ascii=False).replace(f"{tmp_path}/", "") + "\n"
        notebook.write_text(text, encoding="utf-8")
    else:
        assert not different, f"cells {different} show something else; MONET_UPDATE_DOCS=1 stores what they show now"


def test_there_are_notebooks():
    assert [notebook.stem for notebook in NOTEBOOKS] == ["first_step", "hardware", "memory"]
