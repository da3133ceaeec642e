"""Files that are damaged or hostile: an answer or a message, never a crash, a hang or unbounded memory."""

from __future__ import annotations

import random

import pytest
import wire
from limits import survives

SEED = 20260
PREFIXES = 100  # cut each file at this many places
MUTATIONS = 60  # of each file


@pytest.fixture
def survives_bytes(monet, tmp_path):
    def call(content: bytes, *options: str):
        path = tmp_path / "model.onnx"
        path.write_bytes(content)
        return survives(monet, path, *options)

    return call


@pytest.mark.parametrize("file", ("mlp_robotics.onnx", "resnet18_cifar.dynamo.onnx"))
def test_truncated(survives_bytes, data, file) -> None:
    content = (data / "models" / file).read_bytes()
    for i in range(PREFIXES):
        survives_bytes(content[: len(content) * i // PREFIXES], "--layers")
    for cut in range(1, 20):
        assert survives_bytes(content[:-cut]).returncode == 1


def test_random_bytes(survives_bytes) -> None:
    generator = random.Random(SEED)
    for _ in range(60):
        survives_bytes(generator.randbytes(generator.randrange(1, 4096)))
        survives_bytes(wire.field(7, generator.randbytes(generator.randrange(1, 4096))))


def mutated(content: bytes, generator: random.Random) -> bytes:
    result = bytearray(content)
    for _ in range(generator.choice((1, 1, 2, 8))):
        at = generator.randrange(len(result))
        kind = generator.randrange(5)
        if kind == 0:
            result[at] ^= 1 << generator.randrange(8)
        elif kind == 1:
            result[at] = generator.choice((0, 1, 0x7F, 0x80, 0xFF))
        elif kind == 2:
            del result[at : at + generator.randrange(1, 9)]
        elif kind == 3:
            result[at:at] = generator.randbytes(generator.randrange(1, 9))
        else:
            source = generator.randrange(len(result))
            result[at:at] = result[source : source + generator.randrange(1, 200)]
    return bytes(result)


@pytest.mark.parametrize("options", ((), ("--batch", "3"), ("--layers", "--json")), ids=("plain", "batch", "layers"))
@pytest.mark.parametrize("file", ("mlp_robotics.onnx", "mlp_robotics.dynamo.onnx", "gpt2_tiny.dynamo.onnx"))
def test_mutated(survives_bytes, data, file, options) -> None:
    content = (data / "models" / file).read_bytes()
    generator = random.Random(f"{SEED} {file} {options}")
    outcomes = [survives_bytes(mutated(content, generator), *options).returncode for _ in range(MUTATIONS)]
    assert 0 in outcomes and 1 in outcomes, "mutations should damage some files and not all"


# Encoding. Each is wrong: status 1.

GRAPH = wire.fields(1, wire.chain("Relu", 3)) + wire.field(11, wire.value("x")) + wire.field(12, wire.value("y", None))
OPSET = wire.field(8, wire.field(2, 17))
WRONG_ENCODINGS = {
    "graph is a number": wire.field(7, 5) + OPSET,
    "graph is fixed 32": wire.varint(7 << 3 | 5) + b"abcd" + OPSET,
    "graph is fixed 64": wire.varint(7 << 3 | 1) + b"abcdefgh" + OPSET,
    "graph is a group": wire.varint(7 << 3 | 3) + GRAPH + wire.varint(7 << 3 | 4),
    "reserved wire type": wire.varint(7 << 3 | 6) + GRAPH,
    "field number 0": b"\x02\x00" + wire.field(7, GRAPH) + OPSET,
    "length beyond the end": wire.varint(7 << 3 | 2) + wire.varint(1 << 20) + GRAPH,
    "length of 2^31": wire.varint(7 << 3 | 2) + wire.varint(1 << 31) + GRAPH,
    "length of 2^63": wire.varint(7 << 3 | 2) + wire.varint(1 << 63) + GRAPH,
    "length of 2^64 - 1": wire.varint(7 << 3 | 2) + wire.varint(-1) + GRAPH,
    "varint of eleven bytes": wire.varint(7 << 3 | 2) + b"\xff" * 11,
    "varint without an end": wire.varint(7 << 3 | 2) + b"\x80" * 5,
    "name is a number": wire.field(7, wire.field(1, wire.field(3, 7)) + GRAPH) + OPSET,
    "inner length beyond the node": wire.field(7, wire.field(1, b"\x0a\x7f" + b"x") + GRAPH) + OPSET,
    "no operator set": wire.field(7, GRAPH),
    "operator set 0": wire.field(7, GRAPH) + wire.field(8, wire.field(2, 0)),
    "operator set -1": wire.field(7, GRAPH) + wire.field(8, wire.field(2, -1)),
    "no graph": OPSET,
    "odd packed floats": wire.model([wire.node("Relu", ["x"], ["y"], attributes=[wire.field(7, b"abc")])]),
}


def test_the_frame_of_the_wrong_encodings_is_right(survives_bytes) -> None:
    assert survives_bytes(wire.field(7, GRAPH) + OPSET).returncode == 0


@pytest.mark.parametrize("kind", WRONG_ENCODINGS)
def test_wrong_encoding(survives_bytes, kind) -> None:
    assert survives_bytes(WRONG_ENCODINGS[kind]).returncode == 1


@pytest.mark.parametrize("tag", (6, 11), ids=("graph", "graphs"))
def test_deeply_nested_graphs(survives_bytes, tag) -> None:
    content = b""
    for _ in range(5000):
        content = wire.field(1, wire.node("If", ["x"], ["y"]) + wire.field(5, wire.field(tag, content)))
    assert survives_bytes(wire.field(7, content) + OPSET).returncode == 1


@pytest.mark.parametrize("tag", (1, 4, 5, 8, 9))
def test_deeply_nested_types(survives_bytes, tag) -> None:
    kind = b""
    for _ in range(4000):
        kind = wire.field(tag, wire.field(1, kind))
    survives_bytes(wire.model(inputs=[wire.field(1, "x") + wire.field(2, kind)]))


# Structure. Each is wrong: status 1, and the message names the culprit.

NOT_TENSORS = {name: wire.field(1, "culprit") + wire.field(2, wire.field(tag, wire.field(1, b"")))
               for name, tag in {"sequence": 4, "map": 5, "opaque": 7, "sparse": 8, "optional": 9}.items()}
WRONG_STRUCTURES = {
    "cycle": wire.model([wire.node("Relu", ["b"], ["a"], "culprit"), wire.node("Relu", ["a"], ["b"], "culprit")]),
    "own output": wire.model([wire.node("Relu", ["y"], ["y"], "culprit")]),
    "undefined input": wire.model([wire.node("Relu", ["culprit"], ["y"])]),
    "undefined output": wire.model([], outputs=["culprit"]),
    "two producers": wire.model([wire.node("Relu", ["x"], ["culprit"])] * 2),
    "output is an input": wire.model([wire.node("Relu", ["x"], ["x"], "culprit")]),
    "one node, one name twice": wire.model([wire.node("Split", ["x"], ["culprit", "culprit"])]),
    "initializer twice": wire.model(initializers=[wire.weight("culprit", [2])] * 2),
    "input without a type": wire.model(inputs=[wire.field(1, "culprit")]),
    "input without a shape": wire.model(inputs=[wire.value("culprit", None)]),
    "input of strings": wire.model(inputs=[wire.value("culprit", (4,), wire.STRING)]),
    "input of no type": wire.model(inputs=[wire.value("culprit", (4,), 0)]),
    "input of an unknown type": wire.model(inputs=[wire.value("culprit", (4,), 1000)]),
    "input of complex numbers": wire.model(inputs=[wire.value("culprit", (4,), 14)]),
    "negative size": wire.model(inputs=[wire.value("culprit", (-4, 2))]),
    "size of 2^63 - 1": wire.model(inputs=[wire.value("culprit", ((1 << 63) - 1, 2))]),
    "many axes": wire.model(inputs=[wire.value("culprit", [1] * 100000)]),
    "initializer of negative size": wire.model(initializers=[wire.weight("culprit", [-1])]),
    "initializer that overflows": wire.model(initializers=[wire.weight("culprit", [1 << 40, 1 << 40])]),
    "initializer of many axes": wire.model(initializers=[wire.weight("culprit", [1] * 100000)]),
    "initializer of strings": wire.model(initializers=[wire.tensor("culprit", [], [0], wire.STRING)]),
    "fewer values than the shape": wire.model([wire.node("Reshape", ["x", "to"], ["y"], "culprit")],
                                              initializers=[wire.tensor("to", [4], [2])], outputs=["y"]),
    "branches": wire.model([wire.node("If", ["x"], ["y"], "culprit", attributes=[
        wire.field(1, "then_branch") + wire.field(6, GRAPH) + wire.field(20, 5)])]),
    "unknown operator": wire.model([wire.node("Frobnicate", ["x"], ["y"], "culprit")]),
    "unknown domain": wire.model([wire.node("Relu", ["x"], ["y"], "culprit", "somebody")]),
    "no inputs": wire.model([wire.node("Relu", [], ["y"], "culprit")]),
    "inputs that are absent": wire.model([wire.node("Add", ["", ""], ["y"], "culprit")]),
    "too many outputs": wire.model([wire.node("Relu", ["x"], ["y", "z"], "culprit")]),
    "tensor attribute without a tensor": wire.model(
        [wire.node("Constant", [], ["y"], "culprit", attributes=[wire.field(1, "value") + wire.field(20, 4)])]),
    **{f"input is a {name}": wire.model(inputs=[content]) for name, content in NOT_TENSORS.items()},
}


@pytest.mark.parametrize("kind", WRONG_STRUCTURES)
def test_wrong_structure(survives_bytes, kind) -> None:
    result = survives_bytes(WRONG_STRUCTURES[kind])
    assert result.returncode == 1
    if kind != "tensor attribute without a tensor":
        assert b"culprit" in result.stderr, result.stderr[:500]
