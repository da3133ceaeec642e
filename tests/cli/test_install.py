"""`cmake --install`: can what it puts down be used from there?"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

PROGRAM = """
#include <monet/inspect.h>
#include <cstdio>
int main() {
  const auto inspection = monet::inspect("mlp-robotics", {});
  std::puts(inspection ? "inspected" : "failed");
  return inspection ? 0 : 1;
}
"""


@pytest.fixture(scope="module")
def prefix(monet, tmp_path_factory):
    build = monet.parent
    if not (build / "cmake_install.cmake").exists():
        pytest.skip(f"{build} was not made by CMake")
    folder = tmp_path_factory.mktemp("prefix")
    # Others may be built there too: only these two parts.
    for part in ("program", "development"):
        command = ["cmake", "--install", build, "--prefix", folder, "--component", part]
        result = subprocess.run(command, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
    return folder


def test_the_program_runs_from_there(prefix) -> None:
    result = subprocess.run([prefix / "bin/monet", "--version"], capture_output=True, text=True)
    assert result.returncode == 0 and result.stdout.startswith("monet ")


def test_completion_is_where_the_shells_look(prefix) -> None:
    for path in ("bash-completion/completions/monet", "zsh/site-functions/_monet", "fish/vendor_completions.d/monet.fish"):
        assert "monet" in (prefix / "share" / path).read_text()


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed")
def test_man_finds_the_manual(prefix) -> None:
    assert (prefix / "share/man/man1/monet.1").exists()
    result = subprocess.run(["man", "-M", prefix / "share/man", "monet"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "monet evaluate" in result.stdout


def test_a_program_can_use_the_library(prefix, tmp_path) -> None:
    (pkg_config,) = prefix.glob("lib*/**/pkgconfig")
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "monet"],
        env={"PKG_CONFIG_PATH": str(pkg_config), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert flags.returncode == 0, flags.stderr
    (tmp_path / "user.cpp").write_text(PROGRAM)
    command = ["c++", "user.cpp", "-o", "user", *flags.stdout.split()]
    compiled = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    if "sanitizer" in compiled.stderr or "__asan" in compiled.stderr or "__tsan" in compiled.stderr:
        pytest.skip("the library was built for a sanitizer")
    assert compiled.returncode == 0, compiled.stderr
    assert subprocess.run([tmp_path / "user"], capture_output=True, text=True).stdout == "inspected\n"


def test_the_example_builds_with_the_package(prefix, tmp_path) -> None:
    """The program of examples/, by find_package(monet), as a user's own project does it."""
    example = Path(__file__).parents[2] / "examples" / "evaluate"
    configured = subprocess.run(
        ["cmake", "-S", example, "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}"], capture_output=True, text=True
    )
    assert configured.returncode == 0, configured.stderr
    built = subprocess.run(["cmake", "--build", tmp_path], capture_output=True, text=True)
    if any(name in built.stdout + built.stderr for name in ("sanitizer", "__asan", "__tsan")):
        pytest.skip("the library was built for a sanitizer")
    assert built.returncode == 0, built.stdout + built.stderr
    result = subprocess.run([tmp_path / "evaluate", "mlp-robotics", "monet_2x2"], capture_output=True, text=True)
    assert result.returncode == 0 and result.stdout.endswith("by its plan: the same\n"), result.stderr
    refused = subprocess.run([tmp_path / "evaluate", "mlp-robotics", "nosuch"], capture_output=True, text=True)
    assert refused.returncode == 1 and "there is no such file or preset" in refused.stderr
