"""Does a PyTorch module become a network?"""

from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

monet = pytest.importorskip("monet", reason="the Python package is not installed; run `make python`")


def linear(path: str) -> None:
    """y = x W, 8 to 4, for a batch of 2."""
    weight = helper.make_tensor("weight", TensorProto.FLOAT, [8, 4], [0.5] * 32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "weight"], ["y"], name="product")],
        "linear",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4])],
        [weight],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), path)


class Module:
    pass


@pytest.fixture
def torch(monkeypatch):
    """One that remembers how it was called."""
    calls: list[dict] = []

    def export(model, *, f, **options) -> None:
        calls.append({"model": model, **options})
        linear(f)

    fake = types.ModuleType("torch")
    fake.onnx = types.SimpleNamespace(export=export)
    fake.calls = calls
    monkeypatch.setitem(sys.modules, "torch", fake)
    monkeypatch.setitem(sys.modules, "onnxscript", types.ModuleType("onnxscript"))
    return fake


@pytest.mark.parametrize(
    ("inputs", "args", "kwargs"),
    [("x", ("x",), None), (("x", "y"), ("x", "y"), None), ({"x": 1}, (), {"x": 1})],
)
def test_how_the_exporter_is_called(torch, inputs, args, kwargs) -> None:
    # A text is a sequence too: tensors are none.
    network = monet.from_torch(Module(), [inputs] if isinstance(inputs, str) else inputs, opset_version=18)
    call = torch.calls[0]
    assert call["dynamo"] is True and call["optimize"] is False and call["opset_version"] == 18
    assert call["args"] == args and call["kwargs"] == kwargs
    assert network.parameters == 32 and network.macs["forward"] == 2 * 8 * 4
    assert monet.evaluate(network.train("sgd", loss="mse"), "edge_tpu").latency_s > 0


def test_the_file_can_be_kept(torch, tmp_path: Path) -> None:
    network = monet.from_torch(Module(), [1], path=tmp_path / "net.onnx")
    assert (tmp_path / "net.onnx").exists() and network.source == str(tmp_path / "net.onnx")


def test_what_cannot_be_exported(torch) -> None:
    def export(*_, **__) -> None:
        raise RuntimeError("this operator is unknown\nand much more")

    torch.onnx.export = export
    with pytest.raises(monet.Error, match="torch cannot export it: this operator is unknown") as caught:
        monet.from_torch(Module(), [1])
    assert caught.value.place == "Module" and isinstance(caught.value.__cause__, RuntimeError)


def test_without_torch() -> None:
    program = """
import sys
sys.modules["torch"] = None
import monet
try:
    monet.from_torch(None, None)
except ImportError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "from_torch needs torch" in said and "pip install 'monet[torch]'" in said


def test_a_real_module() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: a real module cannot be exported")
    pytest.importorskip("onnxscript")
    module = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    network = monet.from_torch(module, torch.zeros(2, 8))
    assert network.parameters == 8 * 16 + 16 + 16 * 4 + 4
    assert network.macs["forward"] == 2 * (8 * 16 + 16 * 4)
    assert monet.evaluate(network.train("sgd"), "edge_tpu").latency_s > 0
