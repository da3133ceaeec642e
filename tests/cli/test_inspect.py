"""The command line as scripts rely on it: exit status, what goes to which stream, messages for every mistake."""

from __future__ import annotations

import json
import os
import subprocess
from functools import partial
from pathlib import Path

import onnx
import pytest
from commands import run_command
from onnx import TensorProto, helper

BUILT_IN = ("resnet18", "resnet34", "resnet50", "wide-resnet50-2", "wide-resnet101-2", "resnet18-cifar",
            "resnet18-cifar-folded", "resnet18-224", "mobilenet-v2", "vit-b-32", "vit-b-16", "vit-tiny", "vit-cifar",
            "gpt2", "gpt2-small", "gpt2-mini", "gpt2-tiny", "gpt2like", "bert-base", "mlp-robotics", "pets-cartpole",
            "pets-reacher", "pets-pusher", "pets-halfcheetah", "lenet5", "unet", "fsrcnn")


@pytest.fixture
def run(monet: Path):
    return partial(run_command, monet)


@pytest.fixture
def fails(run):
    """Runs a command that must end with status 1, print nothing, and say all of `words` in one line."""

    def call(*arguments: object, words: tuple[str, ...]) -> None:
        result = run(*arguments)
        assert result.returncode == 1, result.stderr
        assert result.stdout == ""
        assert result.stderr.startswith("monet: ") and result.stderr.count("\n") == 1, result.stderr
        for word in words:
            assert word in result.stderr

    return call


@pytest.fixture
def open_model(tmp_path: Path) -> Path:
    """Two open dimensions, an attribute that nobody knows and a table that is no parameter."""
    node = helper.make_node("Gemm", ["x", "w"], ["h"], name="product", flavour=1)
    graph = helper.make_graph(
        [node, helper.make_node("Sub", ["x", "mean"], ["y"], name="shift")], "open",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["samples", "width"])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "hy"],
        [helper.make_tensor("w", TensorProto.FLOAT, [8, 3], [0.0] * 24),
         helper.make_tensor("mean", TensorProto.FLOAT, [8], [0.0] * 8)])
    path = tmp_path / "open.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), path)
    return path


# What is printed


def test_json_is_one_object_with_the_fields_of_the_contract(run) -> None:
    result = run("inspect", "resnet18", "--json")
    assert result.returncode == 0 and result.stderr == ""
    found = json.loads(result.stdout)  # refuses anything after the object
    assert found["schema"] == 1
    assert found["parameters"] == 11689512
    assert found["macs"] == {"forward": 1814073344, "backward": 0, "optimizer": 0}
    assert found["nodes"] == {"forward": 69, "backward": 0, "optimizer": 0}
    assert "layers" not in found


def test_notes_and_warnings_go_to_standard_error(run, open_model) -> None:
    result = run("inspect", open_model, "--dim", "width=8", "--json")
    assert result.returncode == 0
    found = json.loads(result.stdout)
    assert found["warnings"] and found["notes"]
    lines = result.stderr.splitlines()
    assert lines == [f"monet: warning: {text}" for text in found["warnings"]] + [
        f"monet: note: {text}" for text in found["notes"]
    ]
    assert "'flavour'" in lines[0]
    assert any("'samples' is not given and taken as 1" in line for line in lines)


def test_quiet_leaves_warnings_and_drops_notes(run, open_model) -> None:
    loud = run("inspect", open_model, "--dim", "width=8")
    quiet = run("inspect", open_model, "--dim", "width=8", "-q")
    assert quiet.returncode == 0 and quiet.stdout == loud.stdout
    assert "warning:" in quiet.stderr and "note:" not in quiet.stderr
    assert "note:" in loud.stderr


def test_verbose_shows_all_warnings(run, tmp_path) -> None:
    nodes = [helper.make_node("Relu", [f"t{i}"], [f"t{i + 1}"], name=f"n{i}", flavour=i) for i in range(20)]
    graph = helper.make_graph(nodes, "many", [helper.make_tensor_value_info("t0", TensorProto.FLOAT, [4])],
                              [helper.make_tensor_value_info("t20", TensorProto.FLOAT, [4])])
    path = tmp_path / "many.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), path)
    few = run("inspect", path).stderr.splitlines()
    assert len(few) == 9 and "and 12 more like these; -v shows all" in few[-1]
    assert len(run("inspect", path, "-v").stderr.splitlines()) == 20


def test_layers(run) -> None:
    found = json.loads(run("inspect", "mlp-robotics", "--layers", "--json").stdout)
    layers = found["layers"]
    assert [layer["operator"] for layer in layers] == ["Gemm", "Relu"] * 3 + ["Gemm"]
    assert sum(layer["macs"] for layer in layers) == found["macs"]["forward"]
    assert sum(layer["parameters"] for layer in layers) == found["parameters"]
    for layer in layers:
        for tensor in layer["inputs"] + layer["outputs"]:
            assert set(tensor) >= {"name", "shape", "type", "role"}
    text, short = run("inspect", "mlp-robotics", "--layers").stdout, run("inspect", "mlp-robotics").stdout
    assert all(layer["name"] in text for layer in layers)
    assert len(text.splitlines()) >= len(short.splitlines()) + len(layers)


def test_text_has_the_same_totals(run) -> None:
    text = run("inspect", "resnet18").stdout
    assert "11,689,512" in text and "1,814,073,344" in text


@pytest.mark.parametrize("network", BUILT_IN)
def test_every_built_in_network_opens(run, network) -> None:
    result = run("inspect", network, "--json")
    assert result.returncode == 0 and result.stderr == ""
    found = json.loads(result.stdout)
    assert found["model"] == network and found["parameters"] > 0 and found["macs"]["forward"] > 0


def test_equal_calls_give_equal_bytes(run) -> None:
    assert run("inspect", "bert-base", "--layers", "--json").stdout == run(
        "inspect", "bert-base", "--layers", "--json").stdout


def test_version(run) -> None:
    result = run("--version")
    assert result.returncode == 0 and result.stdout.startswith("monet ") and result.stderr == ""


def test_help_has_examples_and_the_built_in_networks(run) -> None:
    result = run("inspect", "--help")
    assert result.returncode == 0 and result.stderr == ""
    examples = [line.strip() for line in result.stdout.splitlines() if line.startswith("  monet inspect ")]
    assert len(examples) >= 3
    for option in ("--batch", "--dim", "--layers", "--json", "--quiet", "--verbose"):
        assert option in result.stdout
    assert "monet networks lists the built-in networks" in result.stdout
    listed = {line.split()[0] for line in run("networks").stdout.splitlines() if line.strip()}
    assert set(BUILT_IN) <= listed


def test_examples_in_the_help_work(run) -> None:
    for line in run("inspect", "--help").stdout.splitlines():
        if line.startswith("  monet inspect ") and ".onnx" not in line:
            assert run(*line.split()[1:]).returncode == 0, line


def test_general_help_names_the_commands(run) -> None:
    result = run("--help")
    assert result.returncode == 0 and "inspect" in result.stdout


# Sizes


def test_dimensions_are_bound_by_name(run, open_model) -> None:
    result = run("inspect", open_model, "--dim", "width=8", "--dim", "samples=5", "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["macs"]["forward"] == 5 * 8 * 3
    assert not [note for note in found["notes"] if "not given" in note]


def test_batch_binds_the_first_axis(run, open_model) -> None:
    found = json.loads(run("inspect", open_model, "--dim", "width=8", "--batch", "6", "--json").stdout)
    assert found["inputs"][0]["shape"] == [6, 8]


def test_batch_of_a_built_in_network(run) -> None:
    option = json.loads(run("inspect", "mlp-robotics", "--batch", "6", "--json").stdout)
    suffix = json.loads(run("inspect", "mlp-robotics:batch=6", "--json").stdout)
    assert option["macs"] == suffix["macs"] and option["inputs"][0]["shape"] == [6, 32]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--dim", "widht=8"), ("'widht'", "did you mean 'width'")),
        (("--dim", "width"), ("--dim", "'width' is not NAME=NUMBER")),
        (("--dim", "=8"), ("--dim", "NAME=NUMBER")),
        (("--dim", "width=eight"), ("--dim", "NAME=NUMBER")),
        (("--dim", "width=0"), ("width", "0")),
        (("--dim", "width=-3"), ("width", "-3")),
        (("--dim", "width=99999999999999999999"), ("--dim",)),
        (("--dim", "width=7"), ("product",)),
        (("--dim", "width=9000000000000000000"), ("9000000000000000000",)),
        (("--dim", "width=8", "--batch", "0"), ("batch", "0")),
        (("--dim", "width=8", "--batch", "-1"), ("batch", "-1")),
        (("--dim", "width=8", "--batch", "many"), ("--batch", "many")),
        (("--dim", "width=8", "--batch", "2", "--dim", "samples=3"), ("samples",)),
    ],
)
def test_wrong_sizes(fails, open_model, arguments, words) -> None:
    fails("inspect", open_model, *arguments, words=words)


# Mistakes


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("--help",)),
        (("inspect",), ("MODEL", "--help")),
        (("inspct", "resnet18"), ("inspct", "did you mean 'inspect'")),
        (("frobnicate",), ("frobnicate", "commands are", "inspect")),
        (("inspect", "resnet18", "--layrs"), ("--layrs", "did you mean '--layers'")),
        (("inspect", "resnet18", "--frobnicate"), ("--frobnicate", "--help")),
        (("inspect", "resnet18", "resnet50"), ("resnet50", "--help")),
        (("inspect", "resnet18", "--batch"), ("--batch",)),
        (("inspect", "resnet18", "--batch", "many"), ("--batch", "'many' is not a whole number", "--help")),
        (("inspect", "resnet18", "--batch", "99999999999999999999"), ("--batch", "out of range")),
        (("inspect", "resnet18", "-x"), ("no option '-x'", "--help")),
        (("inspect", "resnet81"), ("resnet81", "did you mean 'resnet18'")),
        (("inspect", "nothing-like-it"), ("no such file and no built-in network", "resnet18", "unet")),
        (("inspect", "there/is/no.onnx"), ("there/is/no.onnx",)),
        (("inspect", "gpt2:layer=2"), ("layer", "did you mean 'layers'")),
        (("inspect", "gpt2:colour=2"), ("colour", "layers", "width")),
        (("inspect", "gpt2:layers"), ("layers",)),
        (("inspect", "gpt2:layers=two"), ("layers", "two")),
        (("inspect", "gpt2:layers=0"), ("layers", "0")),
        (("inspect", "gpt2:layers=99999999999999999999"), ("layers",)),
        (("inspect", "gpt2:layers=2,layers=3"), ("layers",)),
        (("inspect", "gpt2:width=100,heads=3"), ("width", "heads")),
        (("inspect", "resnet18:"), ("resnet18",)),
        (("inspect", "resnet18", "--dim", "batch=2"), ("batch",)),
        (("inspect", ""), ("monet",)),
    ],
)
def test_mistakes(fails, arguments, words) -> None:
    fails(*arguments, words=words)


def test_a_text_is_no_model(run, tmp_path) -> None:
    path = tmp_path / "model.onnx"
    path.write_text("# A title\n\nNot a network.\n")
    result = run("inspect", path)
    assert result.returncode == 1 and "not a well-formed ONNX file (it may be" in result.stderr


def test_a_folder_is_no_model(fails, tmp_path) -> None:
    fails("inspect", tmp_path, words=(str(tmp_path), "folder"))


def test_an_empty_file_is_no_model(fails, tmp_path) -> None:
    path = tmp_path / "empty.onnx"
    path.write_bytes(b"")
    fails("inspect", path, words=(str(path), "empty"))


def test_an_unreadable_file(fails, tmp_path) -> None:
    path = tmp_path / "secret.onnx"
    path.write_bytes(b"\x08\x0a")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    fails("inspect", path, words=(str(path), "Permission denied"))


def test_a_pipe_is_no_model(fails, tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")
    descriptor = os.open(tmp_path / "pipe", os.O_RDWR)  # so that opening it does not wait
    fails("inspect", tmp_path / "pipe", words=("not a regular file",))
    os.close(descriptor)


def test_a_node_that_is_wrong_is_named(fails, open_model) -> None:
    fails("inspect", open_model, "--dim", "width=5", words=(str(open_model), "node 'product' (Gemm)"))


def test_a_reader_that_goes_away_is_no_error(monet) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run([monet, "inspect", "resnet50", "--layers", "--json"], stdout=writer, stderr=subprocess.PIPE,
                            timeout=60)
    os.close(writer)
    assert result.returncode == 0 and result.stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_reported(monet) -> None:
    with open("/dev/full", "w") as full:
        result = subprocess.run([monet, "inspect", "resnet50", "--json"], stdout=full, stderr=subprocess.PIPE,
                                text=True, timeout=60)
    assert result.returncode == 1 and "cannot write the output" in result.stderr
