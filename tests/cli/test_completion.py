"""Do the shells complete commands, options, words and names, as a user of them would have it?"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess

import pytest
from commands import run_command

CASES = [
    ("", {"inspect", "evaluate", "hardware", "completion"}, {"show", "resnet18"}),
    ("eva", {"evaluate"}, {"explore"}),
    ("hardware ", {"list", "show", "check", "import"}, {"evaluate"}),
    ("hardware show ed", {"edge_tpu", "edge_tpu_like"}, {"h100"}),
    ("precision ", {"list", "show", "compare"}, {"evaluate"}),
    ("precision show mxf", {"mxfp8", "mxfp4"}, {"bf16"}),
    ("precision compare resnet18 --recipes bf", {"bf16"}, {"mxfp8"}),
    ("evaluate resnet18-c", {"resnet18-cifar", "resnet18-cifar-folded"}, {"resnet50"}),
    ("evaluate resnet18 --hardware h", {"h100", "h200"}, {"edge_tpu"}),
    ("evaluate resnet18 --obj", {"--objective"}, {"--optimizer"}),
    ("evaluate resnet18 --objective e", {"energy", "edp"}, {"latency"}),
    ("evaluate resnet18 --optimizer ad", {"adam", "adamw", "adafactor"}, {"sgd"}),
    ("evaluate x --json --order c", {"critical-path"}, {"graph"}),
    ("checkpoint x --method ", {"search", "nsga2", "exact", "milp"}, {"--json"}),
    ("explore ed", {"edge_tpu"}, {"fusemax"}),
    ("explore x --objectives l", {"latency"}, {"energy"}),
    ("validate s", {"silicon"}, {"counts"}),
    ("completion ", {"bash", "zsh", "fish"}, {"man"}),
    ("evaluate x --color a", {"auto", "always"}, {"never"}),
    ("evaluate x --plan pl", {"plan.yaml"}, {"notes.txt"}),
    ("inspect pl", {"plan.yaml"}, {"notes.txt"}),
    ("evaluate x -o res", {"results"}, {"notes.txt"}),
    ("evaluate x --batch ", set(), {"plan.yaml", "--json"}),
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plan.yaml").write_text("")
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "results").mkdir()
    return tmp_path


def script(monet, shell: str) -> str:
    result = run_command(monet, "completion", shell)
    assert result.returncode == 0 and result.stderr == ""
    return result.stdout


@pytest.mark.parametrize(("line", "wanted", "unwanted"), CASES)
def test_bash(monet, folder, line, wanted, unwanted) -> None:
    words = ["monet", *line.split(" ")]
    asking = f"{script(monet, 'bash')}\nCOMP_WORDS=({shlex.join(words)})\nCOMP_CWORD={len(words) - 1}\n_monet\n"
    asking += 'printf "%s\\n" "${COMPREPLY[@]}"'
    result = subprocess.run(["bash", "--norc", "-c", asking], cwd=folder, capture_output=True, text=True)
    assert result.stderr == "" and result.returncode == 0
    offered = set(result.stdout.split())
    assert wanted <= offered and not unwanted & offered


def test_bash_with_an_equals_sign(monet, folder) -> None:
    asking = f"{script(monet, 'bash')}\nCOMP_WORDS=(monet evaluate --hardware = ed)\nCOMP_CWORD=4\n_monet\n"
    asking += 'printf "%s\\n" "${COMPREPLY[@]}"'
    result = subprocess.run(["bash", "--norc", "-c", asking], cwd=folder, capture_output=True, text=True)
    assert "edge_tpu" in result.stdout.split()


def test_bash_offers_all_options_of_help(monet, folder) -> None:
    options = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", run_command(monet, "fuse", "--help").stdout, re.MULTILINE))
    asking = f"{script(monet, 'bash')}\nCOMP_WORDS=(monet fuse --)\nCOMP_CWORD=2\n_monet\n"
    asking += 'printf "%s\\n" "${COMPREPLY[@]}"'
    result = subprocess.run(["bash", "--norc", "-c", asking], cwd=folder, capture_output=True, text=True)
    assert set(result.stdout.split()) >= options


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(("line", "wanted", "unwanted"), CASES)
def test_fish(monet, folder, line, wanted, unwanted) -> None:
    if line.endswith("x -o res"):
        wanted = {"results/"}
    asking = f"{script(monet, 'fish')}\ncomplete --do-complete {shlex.quote('monet ' + line)}"
    result = subprocess.run(["fish", "--no-config", "-c", asking], cwd=folder, capture_output=True, text=True)
    assert result.stderr == "" and result.returncode == 0
    offered = {one.split("\t")[0] for one in result.stdout.splitlines()}
    assert wanted <= offered and not unwanted & offered


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_reads_the_script(monet, folder) -> None:
    (folder / "_monet").write_text(script(monet, "zsh"))
    result = subprocess.run(["zsh", "-f", "-n", "_monet"], cwd=folder, capture_output=True, text=True)
    assert result.stderr == "" and result.returncode == 0
    # Without a terminal the completion system does not run: its functions are ours, and say what they were given.
    asking = """
compdef() { : }; compadd() { print -l -- "${@[2,-1]}" }; _files() { print FILES "$@" }; _message() { print MESSAGE "$@" }
_describe() { print -l -- "${(@P)@[-1]}" }
source ./_monet
words=(monet evaluate resnet18 --hardware ed) CURRENT=5; _monet; print END
words=(monet hardware '') CURRENT=3; _monet; print END
words=(monet evaluate --o) CURRENT=3; _monet; print END
words=(monet evaluate x --batch '') CURRENT=5; _monet
"""
    result = subprocess.run(["zsh", "-f", "-c", asking], cwd=folder, capture_output=True, text=True)
    assert result.stderr == "" and result.returncode == 0
    machines, commands, options, number = result.stdout.split("END\n")
    assert {"edge_tpu", "h100", "FILES"} <= set(machines.split())
    assert "show:a machine" in commands and "import:" in commands
    assert "--objective:of the mappings" in options
    assert number == "MESSAGE N\n"
