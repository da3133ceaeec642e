"""The page of `monet serve` in a real browser, from a dropped file to a saved plan."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from test_page import CHROMIUM, npm, run_tests  # noqa: F401

ONNX = Path(__file__).parents[2] / "data" / "models" / "mlp_robotics.onnx"


@pytest.mark.long
def test_from_a_file_to_a_plan(npm: str, monet: Path, tmp_path: Path) -> None:  # noqa: F811
    if not Path(CHROMIUM).exists():
        pytest.skip(f"{CHROMIUM} is absent; scripts/setup.sh test installs it")
    command = [monet, "serve", "--port", "0", "--folder", tmp_path / "runs"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = server.stdout.readline().strip()
            run_tests(npm, "serve", MONET_URL=url, MONET_ONNX=os.fspath(ONNX))
        finally:
            server.terminate()
            assert server.wait(timeout=30) == 0
