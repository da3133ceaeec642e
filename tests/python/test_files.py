"""Are files that Python writes whole or not there?"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

monet = pytest.importorskip("monet", reason="the Python package is not installed; run `make python`")
from monet import _files  # noqa: E402


def limited(program: str, *arguments: object) -> subprocess.CompletedProcess:
    """Run where no file may grow beyond 4,096 bytes, as on a full disk."""
    before = """
        import resource, signal, sys
        from monet import _files, Error
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    """
    text = textwrap.dedent(before) + textwrap.dedent(program)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, "-c", text, *map(str, arguments)], capture_output=True, text=True, env=environment)


def test_a_file_that_does_not_fit_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    _files.write(path, "old")
    result = limited("""
        try:
            _files.write(sys.argv[1], "x" * 10000)
        except Error as error:
            print(error)
    """, path)
    assert "cannot be written: File too large" in result.stdout, result.stderr
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["report.html"]


def test_a_folder_is_replaced_as_a_whole(tmp_path: Path) -> None:
    _files.write_all(tmp_path / "out", [("a", "1"), ("b", "2")])
    result = limited("""
        try:
            _files.write_all(sys.argv[1], [("a", "new"), ("b", "x" * 10000)])
        except Error as error:
            print(error)
    """, tmp_path / "out")
    assert "cannot be written" in result.stdout, result.stderr
    assert {path.name: path.read_text() for path in (tmp_path / "out").iterdir()} == {"a": "1", "b": "2"}


def test_links_permissions_and_pipes_are_kept(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    _files.write(link, "new")
    assert link.is_symlink() and target.read_text() == "new" and target.stat().st_mode & 0o777 == 0o600
    _files.write(os.devnull, "gone")
    assert Path(os.devnull).is_char_device()


def test_files_of_two_runs_are_told(tmp_path: Path) -> None:
    folder = monet.evaluate("mlp-robotics", "edge_tpu").save(tmp_path / "out")
    assert not (Path(folder) / ".unfinished").exists()
    (Path(folder) / ".unfinished").touch()
    with pytest.raises(monet.Error, match="its files are of two runs"):
        monet.read_result(folder)
