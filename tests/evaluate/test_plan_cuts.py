"""Is a plan carried out when it splits a loop and cuts another, in whichever order?"""

import json
import subprocess
from pathlib import Path

import pytest

CUTS = ["split: {OX: 4}, tile: {OY: 1}", "split: {OY: 4}, tile: {OX: 8}", "split: {OX: 2, B: 2}, tile: {OY: 4, K: 16}"]


@pytest.mark.parametrize("cuts", CUTS)
def test_split_and_tile_along_different_loops(monet: Path, tmp_path: Path, cuts: str) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(f'plan: 1\noperators:\n  conv1: {{{cuts}}}\n')
    done = subprocess.run([monet, "evaluate", "resnet18-cifar-folded", "--inference", "--hardware", "monet_2x2", "--plan",
                           plan, "--json", "-q"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["checked"]
    tiles = {operator["name"]: operator["tiles"] for operator in result["operators"]}
    assert tiles["conv1"] == {CUTS[0]: 4 * 32, CUTS[1]: 4 * 4, CUTS[2]: 4 * 8 * 4}[cuts]
