"""Puts together what the site is built from: the pages of docs/, and those that are generated.

    python docs/site/stage.py FOLDER MONET

FOLDER is made anew. Generated are: `reference.md`, all commands and options, by the program MONET itself; `headers.md`,
the public headers, whose comments are their documentation; and a page for each notebook.
"""

import json
import re
import shutil
import subprocess
import sys
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


def notebook_page(notebook: Path) -> str:
    """The cells of a notebook, below each other."""
    page = []
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        page += [text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```", ""]
    page.append(f"*The notebook is `notebooks/{notebook.name}` of the project; run, it shows tables and plots.*")
    return "\n".join(page) + "\n"


def stage(folder: Path, monet: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "notebooks").mkdir(parents=True)
    for picture in [*(ROOT / "docs").glob("*.svg"), *(ROOT / "docs").glob("*.png")]:
        shutil.copy(picture, folder)
    for page in (ROOT / "docs").glob("*.md"):
        text = re.sub(r"\]\(\.\./notebooks/(\w+)\.ipynb\)", r"](notebooks/\1.md)", page.read_text(encoding="utf-8"))
        (folder / page.name).write_text(text, encoding="utf-8")
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        (folder / "notebooks" / f"{notebook.stem}.md").write_text(notebook_page(notebook), encoding="utf-8")
    (folder / "headers.md").write_text(headers_page(ROOT / "include" / "monet"), encoding="utf-8")
    (folder / "reference.md").write_text(command_reference(monet), encoding="utf-8")


if __name__ == "__main__":
    stage(Path(sys.argv[1]), sys.argv[2])
