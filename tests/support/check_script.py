"""What the tests of scripts/check_*.py share: a tree of files, and what a script says of it."""

import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def said_of(script: str, root: Path, *words: str) -> tuple[int, list[str]]:
    """Exit status and lines of a script on the tree below `root`, without its last line, the verdict."""
    done = subprocess.run([sys.executable, SCRIPTS / script, root, *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()[:-1]


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root
