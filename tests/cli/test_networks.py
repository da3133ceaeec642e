"""Does `monet networks` list what every command takes, with the numbers that inspect has?"""

from __future__ import annotations

import json
from pathlib import Path

from commands import run_command


def test_all_are_listed_with_what_inspect_says(monet: Path) -> None:
    listed = json.loads(run_command(monet, "networks", "--json").stdout)["networks"]
    names = [network["name"] for network in listed]
    assert {"resnet18", "gpt2", "llama3-8b", "mlp-robotics"} <= set(names) and len(set(names)) == len(names)
    text = run_command(monet, "networks").stdout
    for network in listed:
        assert f"\n{network['name']} " in text
    by_name = dict(zip(names, listed, strict=True))
    for name in ("resnet50", "lenet5", "llama3-405b"):
        found = json.loads(run_command(monet, "inspect", name, "--json", "-q").stdout)
        assert by_name[name]["parameters"] == found["parameters"]
        assert by_name[name]["macs"] == found["macs"]["forward"]


def test_each_size_is_taken_where_it_is_said_to_be(monet: Path) -> None:
    (network,) = json.loads(run_command(monet, "networks", "lenet5", "--json").stdout)["networks"]
    text = run_command(monet, "networks", "lenet5").stdout
    for size in network["sizes"]:
        assert size["meaning"] in text and size["smallest"] <= size["default"] <= size["largest"]
        smallest = run_command(monet, "inspect", f"lenet5:{size['name']}={size['smallest']}", "-q")
        assert smallest.returncode == 0
        below = run_command(monet, "inspect", f"lenet5:{size['name']}={size['smallest'] - 1}", "-q")
        assert below.returncode == 1 and size["name"] in below.stderr


def test_one_that_is_none(monet: Path) -> None:
    result = run_command(monet, "networks", "lenet6")
    assert result.returncode == 1 and "did you mean 'lenet5'?" in result.stderr
