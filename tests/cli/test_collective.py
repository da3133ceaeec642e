"""Does `monet collective` keep its contract: figures that a sheet of paper gives, JSON, and messages?"""

from __future__ import annotations

import json
from functools import partial

import pytest
from commands import run_command

MACHINE = """monet: 1
name: two_levels
chips: {include: h100}
fabric:
  - {name: node, chips: 8, width: 300 GB/s}
  - {name: net, chips: any, width: 25 GB/s, energy: 2 pJ/bit}
"""


@pytest.fixture
def collective(monet, tmp_path):
    (tmp_path / "machine.yaml").write_text(MACHINE)
    return partial(run_command, monet, "collective", cwd=tmp_path)


def found(result) -> dict:
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_by_hand(collective) -> None:
    report = found(collective("all_reduce", "--bytes", "1GB", "--hardware", "machine.yaml", "--chips", "32", "--json"))
    assert report["seconds"] == pytest.approx(2 * 7 / 8 / 300 + 2 * 3 / 4 / 8 / 25)
    assert report["bound_seconds"] <= report["seconds"]
    assert (report["algorithm"], report["group"]) == ("hierarchical", 32)
    assert [level["bytes"] for level in report["levels"]] == pytest.approx([1.75e9, 1.5e9 / 8])
    assert report["energy_pj"] == pytest.approx(32 * 1.5e9 / 8 * 8 * 2)
    assert report["seconds"] == min(report["algorithms"].values())


def test_a_group_of_a_mesh(collective) -> None:
    arguments = ("all_gather", "--bytes", "1GB", "--hardware", "machine.yaml", "--mesh", "dp=4,tp=8", "--json")
    inside = found(collective(*arguments, "--over", "tp"))
    between = found(collective(*arguments, "--over", "dp", "--algorithm", "ring"))
    assert inside["seconds"] == pytest.approx(7 / 8 / 300)
    assert between["seconds"] == pytest.approx(3 / 4 / 25)
    assert found(collective(*arguments, "--over", "dp,tp"))["group"] == 32


def test_text(collective) -> None:
    text = collective("send", "--bytes", "25MB", "--hardware", "machine.yaml", "--chips", "16").stdout
    assert text.startswith("send of 25,000,000 bytes (23.84 MiB) on two_levels, 16 chips\n")
    assert "time         1 ms\n" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--chips", "12"), "12 chips do not fill units of 8 of the level 'node' (take 8, or another multiple of 8)"),
        ((), "how many chips? 'two_levels' has as many as are asked for (write --chips 64)"),
        (("--mesh", "dp=4,tp=6", "--over", "tp"), "the axis tp of 6 does not lie evenly on the level 'node' of 8 chips"),
        (("--mesh", "dp=4,tp=8"), "along which axes? (name axes of --mesh: --over dp)"),
        (("--mesh", "dp=4,tp=8", "--over", "pp"), "the mesh has no axis 'pp'"),
        (("--mesh", "dp=4,tp=8", "--over", "tp,tp"), "the axis 'tp' twice"),
        (("--mesh", "dp=4,dp=8", "--over", "dp"), "two axes 'dp'"),
        (("--mesh", "dp=4,tp=8", "--over", "dp", "--chips", "8"), "the mesh has 32 chips, not 8"),
        (("--mesh", "dp=4,tp=0", "--over", "dp"), "the axis tp cannot have 0 chips"),
        (("--mesh", "dp=4294967296,tp=4294967296", "--over", "dp"), "the axis tp cannot have 4294967296 chips"),
        (("--chips", "8", "--over", "dp"), "axes without a mesh"),
        (("--chips", "8", "--algorithm", "in_switch"), "all_reduce is not possible by in_switch here (possible: ring, tree"),
        (("--chips", "8", "--bytes", "0"), "no bytes"),
    ],
)
def test_messages(collective, arguments, message) -> None:
    size = () if "--bytes" in arguments else ("--bytes", "1MiB")
    result = collective("all_reduce", "--hardware", "machine.yaml", *size, *arguments)
    assert result.returncode == 1
    assert message in result.stderr


def test_a_single_chip_has_no_fabric(collective) -> None:
    result = collective("all_reduce", "--bytes", "1MiB", "--hardware", "h100", "--chips", "8")
    assert result.returncode == 1
    assert "the machine 'h100' is one chip: it has no fabric" in result.stderr
