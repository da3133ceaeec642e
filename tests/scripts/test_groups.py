"""Is every file compiled, once, whichever group it is in?"""

import os
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
GROUPS = Path(os.environ.get("MONET_BUILD", SOURCE / "build")) / "groups"
ROOMS = [f"monet_{file.parent.name}" for file in sorted((SOURCE / "src").glob("*/room.cmake"))]


def grouped(*targets: str) -> list[str]:
    files = [file for target in targets for file in sorted((GROUPS / target).glob("*.cpp"))]
    if not files:
        pytest.skip(f"{GROUPS} has no groups: each file is compiled by itself")
    return [path for file in files for path in re.findall(r'#include "([^"]+)"', file.read_text())]


def files_of(folder: Path, *but: str) -> list[str]:
    names = (file.relative_to(folder).as_posix() for file in folder.rglob("*.cpp"))
    return sorted(name for name in names if not name.startswith(but))


def test_every_file_of_the_program_is_in_one_group() -> None:
    """But for those that are objects of their own."""
    assert sorted(grouped(*ROOMS, "monet_commands")) == files_of(SOURCE / "src", "python/", "cli/main.cpp", "serve/server.cpp")


def test_every_test_is_in_one_group() -> None:
    assert sorted(grouped("monet_tests")) == files_of(SOURCE / "tests", "fuzz/", "tools/")


def test_files_of_the_python_module_are_in_one_group() -> None:
    assert sorted(grouped("_core")) == files_of(SOURCE / "src" / "python")


def test_a_group_has_one_room_in_the_order_of_names() -> None:
    for target in (*ROOMS, "monet_tests"):
        for file in (GROUPS / target).glob("*.cpp"):
            paths = re.findall(r'#include "([^"]+)"', file.read_text())
            assert {path.split("/")[0] for path in paths} == {file.stem.rsplit("_", 1)[0]}
            assert paths == sorted(paths)
