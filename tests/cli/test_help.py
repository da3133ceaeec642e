"""Help, suggestions, exit statuses, the generated reference, and the manual."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from commands import fails, is_mistake, run_command

COMMANDS = ["inspect", "networks", "train", "hardware", "hardware list", "hardware show", "hardware check", "hardware import",
            "precision", "precision list", "precision show", "precision compare", "collective",
            "evaluate", "map", "fuse", "checkpoint", "optimize", "explore", "report", "compare", "pack", "remat", "validate", "calibrate", "reference",
            "completion"]  # fmt: skip


@pytest.fixture
def run(monet):
    return lambda *arguments: run_command(monet, *arguments)


def test_the_help_groups_commands_and_has_exit_statuses(run) -> None:
    result = run("--help")
    assert result.returncode == 0
    for words in ("Look at networks and machines:", "Better plans:", "Which hardware to build:", "Examples:",
                  "Exit status:", "  3  a defect of monet"):  # fmt: skip
        assert words in result.stdout
    for command in COMMANDS:
        assert re.search(rf"^  {command.split()[0]} +\w", result.stdout, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command_has_examples(run, command) -> None:
    result = run(*command.split(), "--help")
    assert result.returncode == 0 and result.stderr == ""
    assert f"  monet {command}" in result.stdout[result.stdout.index("Examples:") :]
    assert run(*command.split(), "-h").stdout == result.stdout


STEP = ("mlp-robotics", "--hardware", "edge_tpu")


@pytest.mark.parametrize(
    ("arguments", "guess"),
    [
        (("evalute",), "evaluate"),
        (("hardware", "shw"), "show"),
        (("precision", "shw"), "show"),
        (("precision", "show", "mxfp88"), "mxfp8"),
        (("precision", "compare", *STEP, "--recipes", "bf61"), "bf16"),
        (("inspect", "resnet1"), "resnet18"),
        (("inspect", "gpt2:layer=2"), "layers"),
        (("evaluate", "mlp-robotics", "--hardwar", "x"), "--hardware"),
        (("evaluate", "mlp-robotics", "--hardware", "edge_tpuu"), "edge_tpu"),
        (("evaluate", *STEP, "--set", "pe_memry=1MiB"), "pe_memory"),
        (("evaluate", *STEP, "--objective", "latncy"), "latency"),
        (("evaluate", *STEP, "--order", "grph"), "graph"),
        (("evaluate", *STEP, "--transfers", "drect"), "direct"),
        (("evaluate", *STEP, "--precision", "bf61"), "bf16"),
        (("evaluate", *STEP, "--optimizer", "adm"), "adam"),
        (("evaluate", *STEP, "--loss", "ms"), "mse"),
        (("evaluate", *STEP, "--page", "*", "drm"), "dram"),
        (("map", *STEP, "--core", "smd"), "simd"),
        (("map", *STEP, "--layer", "layer.1"), "layers.1"),
        (("map", *STEP, "--objective", "enrgy"), "energy"),
        (("train", "mlp-robotics", "--optimizer-form", "fusd"), "fused"),
        (("train", "mlp-robotics", "--conv-gradient", "drect"), "direct"),
        (("fuse", *STEP, "--objective", "sts"), "sets"),
        (("fuse", *STEP, "--rules", "publshed"), "published"),
        (("checkpoint", *STEP, "--method", "serch"), "search"),
        (("checkpoint", *STEP, "--objective", "latncy"), "latency"),
        (("checkpoint", *STEP, "--memory-budget", "drm=1MiB"), "dram"),
        (("optimize", *STEP, "--objective", "enery"), "energy"),
        (("explore", "edge_tp"), "edge_tpu"),
        (("explore", "edge_tpu", "--objectives", "latncy"), "latency"),
        (("explore", "edge_tpu", "--method", "nsga"), "nsga2"),
        (("remat", "x.json", "--budget", "0.9", "--objective", "tme"), "time"),
        (("validate", "silcon"), "silicon"),
        (("reference", "markdwn"), "markdown"),
        (("completion", "bsh"), "bash"),
    ],
)
def test_misspelt_words_are_guessed(run, arguments, guess) -> None:
    result = run(*arguments)
    is_mistake(result, "did you mean")
    assert re.search(rf"did you mean ['\"]{re.escape(guess)}['\"]\?", result.stderr), result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("a command is missing", "monet --help")),
        (("hardware",), ("a command is missing", "monet hardware --help")),
        (("xyzzy",), ("there is no command 'xyzzy'", "inspect", "completion")),
        (("hardware", "xyzzy"), ("there is no command 'xyzzy'", "list, show, check, import")),
        (("evaluate", "x"), ("--hardware is required", "monet evaluate --help")),
        (("evaluate", "x", "--hardware", "y", "--xyzzy"), ("there is no option '--xyzzy'", "monet evaluate --help")),
        (("hardware", "show", "x", "--xyzzy"), ("there is no option '--xyzzy'", "monet hardware show --help")),
        (("explore", "edge_tpu", "--method", "x"), ("--method: there is no 'x'", "all, random, sobol, nsga2")),
        (("explore", "--show", "no.sqlite"), ("no.sqlite", "there is no such store", "monet explore SPACE --store")),
        (("explore", "edge_tpu", "--objectives", "latency,latency"), ("'latency' is named twice", "once")),
        (("explore", "--show", "x", "--method", "all"), ("--method does not go with --show", "leave one")),
        (("explore", "--show", "x", "--samples", "3"), ("--samples does not go with --show",)),
        (("explore", "--show", "x", "--resume"), ("--resume does not go with --show",)),
        (("explore", "--show", "x", "--cluster", "local:2"), ("--cluster does not go with --show",)),
        (("explore", "--show", "x", "--store", "y"), ("--store does not go with --show",)),
        (("explore", "--list", "--all"), ("--all does not go with --list",)),
    ],
)
def test_mistakes(run, arguments, words) -> None:
    is_mistake(run(*arguments), *words)


def test_exit_statuses(run, tmp_path) -> None:
    assert run("inspect", "mlp-robotics").returncode == 0
    assert run("inspect", "nothing").returncode == 1
    buffers = tmp_path / "buffers.csv"
    buffers.write_text("id,lower,upper,size\na,0,9,4096\n")
    fails(run("pack", buffers, "--capacity", "1KiB"), 2, "do not fit")
    # 3 is a defect: Command.ExitStatusSaysWhoseFaultItIs has it.


def test_a_full_disk_is_told(monet) -> None:
    with open("/dev/full", "w") as full:
        result = subprocess.run([monet, "hardware", "list"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1
    assert "cannot write the output" in result.stderr


# ------------------------------------------------------------------ the reference and the manual


def options_of(help_text: str) -> set[str]:
    return set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", help_text, re.MULTILINE))


@pytest.mark.parametrize("form", ["markdown", "man"])
def test_the_reference_has_every_command_and_option(run, form) -> None:
    result = run("reference", form)
    assert result.returncode == 0 and result.stderr == ""
    text = result.stdout.replace("\\-", "-")
    for command in COMMANDS:
        heading = f"## monet {command}\n" if form == "markdown" else f".SS monet {command}\n"
        assert heading in text or (form == "man" and command in ("hardware", "precision"))
        for option in options_of(run(*command.split(), "--help").stdout):
            assert re.search(rf"[`B]{re.escape(option)}[` \\]", text), option
    for words in ("(default latency)", "resnet18-cifar", "Exit status" if form == "markdown" else "EXIT STATUS"):
        assert words in text


def test_links_of_the_page_lead_somewhere(run) -> None:
    text = run("reference", "markdown").stdout
    headings = {line[3:].replace(" ", "-") for line in text.splitlines() if line.startswith("## ")}
    links = set(re.findall(r"\]\(#([\w-]+)\)", text))
    assert links and links <= headings
    for line in text.splitlines():
        if line.startswith("| ") and "|---" not in line:
            assert len(re.findall(r"(?<!\\)\|", line)) == 3, line  # two cells


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_manual_is_good_roff(run) -> None:
    manual = run("reference", "man").stdout
    result = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-K", "utf8"], input=manual, capture_output=True, text=True)
    assert result.returncode == 0 and result.stderr == ""
    shown = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", result.stdout)
    for words in ("MONET(1)", "NAME", "monet evaluate", "EXIT STATUS", "--hardware H", "ENVIRONMENT"):
        assert words in shown


def test_the_manual_is_ascii(run) -> None:
    assert run("reference", "man").stdout.isascii()
