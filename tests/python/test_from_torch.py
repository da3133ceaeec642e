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
    assert "from_torch needs torch" in said and "pip install 'monet-train[torch]'" in said


def on(device: str) -> types.SimpleNamespace:
    return types.SimpleNamespace(device=types.SimpleNamespace(type=device), to=on)


def with_tensors(*devices: str) -> Module:
    module = Module()
    module.parameters = lambda: [on(device) for device in devices]
    module.buffers = list
    return module


def test_values_of_a_module_on_meta_are_not_written(torch, monkeypatch) -> None:
    weight = types.SimpleNamespace(
        name="weight",
        const_value=types.SimpleNamespace(raw=on("meta"), nbytes=1 << 40, dtype="float", shape=[1 << 19, 1 << 19]),
    )
    scale = types.SimpleNamespace(name="scale", const_value=types.SimpleNamespace(raw=on("cpu")))
    program = types.SimpleNamespace(
        model=types.SimpleNamespace(
            graph=types.SimpleNamespace(initializers={"weight": weight, "scale": scale})
        )
    )

    def export(model, *, f, args, **_):
        assert f is None and args[0].device.type == "meta" and args[1] == 7
        return program

    ir = types.ModuleType("onnx_ir")
    ir.ExternalTensor = lambda *place, **what: (place, what)
    ir.save = lambda model, file: linear(str(file))
    monkeypatch.setitem(sys.modules, "onnx_ir", ir)
    torch.onnx.export = export
    network = monet.from_torch(with_tensors("meta", "meta"), (on("cpu"), 7))
    assert network.parameters == 32
    place, what = weight.const_value
    assert place[1:] == (0, 1 << 40, "float") and what == {"shape": [1 << 19, 1 << 19], "name": "weight"}
    assert scale.const_value.raw.device.type == "cpu"


def test_a_module_half_on_meta(torch) -> None:
    with pytest.raises(monet.Error, match="1 of its 2 parameters and buffers are on the device meta") as caught:
        monet.from_torch(with_tensors("meta", "cpu"), [1])
    assert caught.value.place == "Module" and "make the whole module there" in caught.value.advice


def test_a_real_module_on_meta() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: a real module cannot be exported")
    pytest.importorskip("onnxscript")
    with torch.device("meta"):  # 2 TiB of weights
        module = torch.nn.Sequential(torch.nn.Linear(8, 1 << 19), torch.nn.ReLU(), torch.nn.Linear(1 << 19, 1 << 20))
    network = monet.from_torch(module, torch.zeros(2, 8))
    assert network.parameters == 9 * (1 << 19) + (1 << 39) + (1 << 20)
    assert network.train("sgd").trained_parameters == network.parameters


def test_a_real_module() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: a real module cannot be exported")
    pytest.importorskip("onnxscript")
    module = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    network = monet.from_torch(module, torch.zeros(2, 8))
    assert network.parameters == 8 * 16 + 16 + 16 * 4 + 4
    assert network.macs["forward"] == 2 * (8 * 16 + 16 * 4)
    assert monet.evaluate(network.train("sgd"), "edge_tpu").latency_s > 0
