"""Is the wheel that is put together one, the same each time, and refused where it would need something?"""

from __future__ import annotations

import csv
import importlib.util
import io
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]


@pytest.fixture
def tool():
    specification = importlib.util.spec_from_file_location("make_wheel", SOURCE / "scripts" / "make_wheel.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A module and a program that need nothing, without all that makes them useful."""
    if shutil.which("cc") is None or shutil.which("objdump") is None:
        pytest.skip("cc or objdump is absent; scripts/setup.sh build installs them")
    folder = tmp_path / "build" / "standalone"
    (folder / "python").mkdir(parents=True)
    (tmp_path / "m.c").write_text("double twice(double x) { return 2 * x; }\n")
    (tmp_path / "p.c").write_text("void _start(void) { for (;;); }\n")
    subprocess.run(["cc", "-shared", "-o", folder / "python" / "_core.abi3.so", tmp_path / "m.c"], check=True)
    subprocess.run(["cc", "-static", "-nostdlib", "-o", folder / "monet", tmp_path / "p.c"], check=True)
    return tmp_path / "build"


def test_what_it_says_of_itself(tool) -> None:
    about = tool.project()
    assert about["name"] == "monet-train" and about["requires-python"] == ">=3.9"
    assert about["version"] in (SOURCE / "include/monet/version.h").read_text()
    assert set(about["extras"]) == {"cluster", "notebook", "torch"}
    text = tool.metadata(about)
    assert 'Requires-Dist: pandas>=2.2; extra == "notebook"' in text and "\n\n# MONET\n" in text


def test_a_wheel(tool, built: Path, tmp_path: Path, monkeypatch) -> None:
    contents = []
    for name in ("a", "b"):
        monkeypatch.setattr(sys, "argv", ["make_wheel", str(built), str(tmp_path / name)])
        tool.main()
        (wheel,) = (tmp_path / name).glob("monet_train-*-py3-none-manylinux_2_28_x86_64.whl")
        contents.append(wheel.read_bytes())
    assert contents[0] == contents[1]
    with zipfile.ZipFile(io.BytesIO(contents[0])) as files:
        names = set(files.namelist())
        (record,) = (name for name in names if name.endswith("dist-info/RECORD"))
        assert {row[0] for row in csv.reader(files.read(record).decode().splitlines())} == names
        (program,) = (name for name in names if name.endswith(".data/scripts/monet"))
        assert files.getinfo(program).external_attr >> 16 & 0o111
        assert {"monet/__init__.py", "monet/py.typed", "monet/_core.abi3.so"} <= names
        assert not any("__pycache__" in name for name in names)


def test_a_module_that_needs_more_is_refused(tool, built: Path, tmp_path: Path, monkeypatch) -> None:
    module = built / "standalone" / "python" / "_core.abi3.so"
    monkeypatch.setattr(sys, "argv", ["make_wheel", str(built), str(tmp_path / "dist")])
    (tmp_path / "z.c").write_text("int inflate(void*, int); int f(void) { return inflate(0, 0); }\n")
    subprocess.run(["cc", "-shared", "-o", module, tmp_path / "z.c", "-lz"], check=True)
    with pytest.raises(SystemExit, match=r"_core.abi3.so needs libz.so.1"):
        tool.main()
    subprocess.run(["cc", "-shared", "-o", module, tmp_path / "z.c"], check=True)
    with pytest.raises(SystemExit, match="_core.abi3.so lacks inflate"):
        tool.main()
    module.unlink()
    with pytest.raises(SystemExit, match="make wheel builds them"):
        tool.main()
