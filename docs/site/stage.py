"""Puts together what the site is built from: the pages of docs/, and those that are generated.

    python docs/site/stage.py FOLDER MONET

FOLDER is made anew. Generated are: `reference.md`, all commands and options, by the program MONET itself; `headers.md`,
the public headers, whose comments are their documentation; a page for each notebook with what its cells showed; and the
reports of docs/gallery.md, by the commands that stand there.
"""

import base64
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def command_reference(monet: str) -> str:
    return subprocess.run([monet, "reference", "markdown"], check=True, capture_output=True, text=True).stdout


def headers_page(folder: Path) -> str:
    """A section for each header of the folder: what its first comment says, and the header."""
    page = [
        "# C++ headers",
        "",
        "The public headers, `#include <monet/NAME.h>`; nothing else is promised. Comments are the contract.",
        "",
    ]
    for header in sorted(folder.glob("*.h")):
        text = header.read_text(encoding="utf-8")
        comment = re.match(r"(?:// ?.*\n)*", text)[0]
        page += [f"## {header.name}", "", re.sub(r"^// ?", "", comment, flags=re.MULTILINE).strip(), ""]
        page += ["````cpp", text[len(comment) :].strip(), "````", ""]
    return "\n".join(page)


def output_lines(data: dict[str, str | list[str]], name: str, pictures: dict[str, bytes]) -> list[str]:
    """What a cell showed: a picture, else a table, else text. Pictures are files of their own."""
    text = {kind: "".join(content) for kind, content in data.items()}
    if "image/png" in text:
        pictures[name] = base64.b64decode(text["image/png"])
        return [f"![{name}]({name})", ""]
    if "text/html" in text:
        return ["```{raw} html", text["text/html"], "```", ""]
    return ["```text", text.get("text/plain", "").rstrip("\n"), "```", ""]


def notebook_page(notebook: Path, pictures: dict[str, bytes] | None = None) -> str:
    """The cells of a notebook and what they showed, below each other."""
    pictures = {} if pictures is None else pictures
    page = []
    for number, cell in enumerate(json.loads(notebook.read_text(encoding="utf-8"))["cells"]):
        text = "".join(cell["source"])
        page += [text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```", ""]
        for k, output in enumerate(cell.get("outputs", [])):
            data = {"text/plain": output["text"]} if "text" in output else output["data"]
            page += output_lines(data, f"{notebook.stem}_{number}_{k}.png", pictures)
    page.append(f"*The notebook is `notebooks/{notebook.name}` of the project.*")
    return "\n".join(page) + "\n"


def gallery_commands(text: str) -> list[tuple[str, str]]:
    """Report and command of each row of docs/gallery.md."""
    return re.findall(r"^\| \[[^]]+\]\(gallery/(\w+)\.html\) \|.*\| `(monet [^`]+)` \|$", text, re.MULTILINE)


def make_gallery(folder: Path, monet: str) -> None:
    """Runs the commands; the last of them compares what others wrote."""
    folder.mkdir(parents=True)
    program = str(Path(monet).resolve())
    recomputed = ["evaluate", "resnet18-cifar", "--batch", "4", "--hardware", "edge_tpu", "--recompute", "*relu*"]
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([program, *recomputed, "-o", "recomputed", "-q"], cwd=work, check=True, capture_output=True)
        for name, command in gallery_commands((ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")):
            words = [program, *shlex.split(command)[1:], "-q"]
            subprocess.run(words, cwd=work, check=True, capture_output=True)
            made = Path(work, f"{name}.html")
            shutil.copy(made if made.exists() else Path(work, name, "report.html"), folder / f"{name}.html")


def stage(folder: Path, monet: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "notebooks").mkdir(parents=True)
    for picture in [*(ROOT / "docs").glob("*.svg"), *(ROOT / "docs").glob("*.png")]:
        shutil.copy(picture, folder)
    for page in (ROOT / "docs").glob("*.md"):
        text = re.sub(r"\]\(\.\./notebooks/(\w+)\.ipynb\)", r"](notebooks/\1.md)", page.read_text(encoding="utf-8"))
        (folder / page.name).write_text(text, encoding="utf-8")
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        pictures: dict[str, bytes] = {}
        (folder / "notebooks" / f"{notebook.stem}.md").write_text(notebook_page(notebook, pictures), encoding="utf-8")
        for name, picture in pictures.items():
            (folder / "notebooks" / name).write_bytes(picture)
    make_gallery(folder / "gallery", monet)
    (folder / "headers.md").write_text(headers_page(ROOT / "include" / "monet"), encoding="utf-8")
    (folder / "reference.md").write_text(command_reference(monet), encoding="utf-8")


if __name__ == "__main__":
    stage(Path(sys.argv[1]), sys.argv[2])
