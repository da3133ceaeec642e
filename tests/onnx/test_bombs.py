"""Small files that ask for a great deal: the answer comes in bounded memory and without a hang."""

from __future__ import annotations

import json

import pytest
import wire
from limits import survives

LARGE = 1 << 40


def constants(**values: list[int]) -> list[bytes]:
    return [wire.tensor(name, numbers) for name, numbers in values.items()]


def doubling(call: str, levels: int) -> bytes:
    """Each function calls the one before twice."""
    functions = [wire.function("f0", ["a"], ["b"], [wire.node("Relu", ["a"], ["b"])])]
    for level in range(1, levels):
        calls = [wire.node(f"f{level - 1}", ["a"], ["m"], call, "local"),
                 wire.node(f"f{level - 1}", ["m"], ["b"], call, "local")]
        functions.append(wire.function(f"f{level}", ["a"], ["b"], calls))
    return wire.model([wire.node(f"f{levels - 1}", ["x"], ["y"], domain="local")], outputs=["y"], functions=functions)


def one_function(body: list[bytes], calls: int, inputs: tuple[str, ...] = ("a",), outputs: tuple[str, ...] = ("b",),
                 **options) -> bytes:
    """A function that is called many times, each time on x."""
    nodes = [wire.node("f", ["x"], [f"y{i}"], domain="local", **options) for i in range(calls)]
    attributes = ["many"] if options else []
    return wire.model(nodes, outputs=["y0"], functions=[wire.function("f", inputs, outputs, body, attributes)])


def reference(name: str, to: str) -> bytes:
    return wire.field(1, name) + wire.field(20, 7) + wire.field(21, to)


def function_bombs() -> dict:
    relu = [wire.node("Relu", ["a"], ["b"])]
    many = wire.ints("many", [1] * 1_000_000)
    names = tuple(f"i{i}" for i in range(30_000))
    return {
        "functions that double, 60 deep": lambda: doubling("", 60),
        "functions that double, 16 deep": lambda: doubling("", 16),
        "functions that double, long names": lambda: doubling("n" * 10_000, 18),
        "a function that calls itself": lambda: one_function([wire.node("f", ["a"], ["b"], domain="local")], 1),
        "a function that calls itself twice": lambda: one_function(
            [wire.node("f", ["a"], ["m"], domain="local"), wire.node("f", ["m"], ["b"], domain="local")], 1),
        "a long list in a function, 2,000 calls": lambda: one_function(
            [wire.node("Relu", ["a"], ["b"], attributes=[many])], 2_000),
        "a long list for 2,000 nodes of a function": lambda: one_function(
            [wire.node("Relu", ["a"], [f"b{i}" if i else "b"], attributes=[reference("axes", "many")])
             for i in range(2_000)], 1, attributes=[many]),
        "30,000 inputs, 30,000 calls": lambda: one_function(relu, 30_000, ("a", *names)),
        "30,000 inputs and as many outputs": lambda: wire.model(
            [wire.node("f", ["x"], names, domain="local")], functions=[wire.function("f", names, names, relu)]),
        "100,000 functions": lambda: wire.model(
            wire.chain("Relu", 3), outputs=["y"],
            functions=[wire.function(f"f{i}", [], [], []) for i in range(100_000)]),
        "100,000 operator sets and nodes": lambda: wire.model(wire.chain("Relu", 100_000), outputs=["y"])
        + wire.fields(8, (wire.field(1, f"d{i}") + wire.field(2, 1) for i in range(100_000))),
        "100,000 operator sets, nodes of the last": lambda: wire.model(
            [wire.node("Relu", ["x"], [f"y{i}"], domain="last") for i in range(100_000)])
        + wire.fields(8, (wire.field(1, f"d{i}") + wire.field(2, 1) for i in range(100_000))),
        "30,000 attributes that refer to 30,000": lambda: wire.model(
            [wire.node("f", ["x"], ["y"], domain="local",
                       attributes=[wire.integer(f"a{i}", 1) for i in range(30_000)])],
            functions=[wire.function("f", ["a"], ["b"], [wire.node("Relu", ["a"], ["b"], attributes=[
                reference(f"r{i}", f"a{29_999 - i}") for i in range(30_000)])])]),
    }


def size_bombs() -> dict:
    def shaped(op_type: str, *inputs: str, attributes=(), **values: list[int]):
        return lambda: wire.model([wire.node(op_type, inputs, ["y"], attributes=attributes)], outputs=["y"],
                                  initializers=constants(**values))

    def doubled(op_type: str, steps: int, attributes=()):
        nodes = [wire.node(op_type, [f"t{i}", f"t{i}"], [f"t{i + 1}"], attributes=attributes) for i in range(steps)]
        return lambda: wire.model(nodes, [wire.value("t0")], [f"t{steps}"])

    def folded(op_type: str, *further: str):
        """65,536 known values through 20,000 nodes."""
        nodes = [wire.node("ConstantOfShape", ["size"], ["t0"])]
        nodes += [wire.node(op_type, [f"t{i}", *further], [f"t{i + 1}"]) for i in range(20_000)]
        return lambda: wire.model(nodes, outputs=["t20000"], initializers=constants(size=[65_536], one=[1]))

    return {
        "Expand": shaped("Expand", "x", "to", to=[LARGE, 4, 8]),
        "Expand to many axes": shaped("Expand", "x", "to", to=[1] * 60_000),
        "Tile": shaped("Tile", "x", "times", times=[LARGE, LARGE]),
        "ConstantOfShape": shaped("ConstantOfShape", "to", to=[LARGE]),
        "ConstantOfShape that overflows": shaped("ConstantOfShape", "to", to=[LARGE, LARGE]),
        "ConstantOfShape as a shape": lambda: wire.model(
            [wire.node("ConstantOfShape", ["n"], ["to"]), wire.node("Expand", ["x", "to"], ["y"])], outputs=["y"],
            initializers=constants(n=[LARGE])),
        "Pad": shaped("Pad", "x", "by", by=[LARGE] * 4),
        "Pad that overflows": shaped("Pad", "x", "by", by=[(1 << 63) - 1] * 4),
        "Pad by less than nothing": shaped("Pad", "x", "by", by=[-(1 << 63)] * 4),
        "Range": lambda: wire.model([wire.node("Range", ["a", "b", "c"], ["y"])], outputs=["y"], initializers=[
            wire.tensor(name, [number], []) for name, number in (("a", 0), ("b", LARGE), ("c", 1))]),
        "Range in steps of 0": lambda: wire.model([wire.node("Range", ["a", "b", "c"], ["y"])], outputs=["y"],
                                                  initializers=[wire.tensor(name, [number], []) for name, number in
                                                                (("a", 0), ("b", LARGE), ("c", 0))]),
        "Reshape that overflows": shaped("Reshape", "x", "to", to=[1 << 62, 1 << 62, 1 << 62]),
        "Reshape to 0 by -1": shaped("Reshape", "x", "to", to=[0, -1, -1]),
        "Resize": lambda: wire.model([wire.node("Resize", ["x", "", "", "to"], ["y"])], outputs=["y"],
                                     initializers=constants(to=[LARGE, LARGE])),
        "OneHot": shaped("OneHot", "i", "n", "v", i=[1, 2], n=[LARGE], v=[0, 1]),
        "TopK": shaped("TopK", "x", "k", k=[LARGE]),
        "Slice": shaped("Slice", "x", "from", "to", "axes", "by", **{
            "from": [-(1 << 63)], "to": [(1 << 63) - 1], "axes": [0], "by": [-(1 << 63)]}),
        "Concat that doubles": doubled("Concat", 100, [wire.integer("axis", 0)]),
        "Add that doubles": doubled("Add", 20_000),
        "MatMul of squares": lambda: wire.model(
            [wire.node("MatMul", ["x", "x"], ["y"])], [wire.value("x", (1 << 25, 1 << 25))], ["y"]),
        "operations that overflow": lambda: wire.model(
            wire.chain("Softmax", 3_000), [wire.value("x", (1 << 26, 1 << 26))], ["y"]),
        "Conv": lambda: wire.model([wire.node("Conv", ["x", "w"], ["y"], attributes=[
            wire.ints("pads", [(1 << 63) - 1] * 4), wire.ints("strides", [1, 1])])], [wire.value("x", (1, 3, 8, 8))],
            ["y"], [wire.weight("w", [4, 3, 3, 3])]),
        "MaxPool": lambda: wire.model([wire.node("MaxPool", ["x"], ["y"], attributes=[
            wire.ints("kernel_shape", [LARGE, LARGE]), wire.ints("dilations", [LARGE, LARGE])])],
            [wire.value("x", (1, 3, 8, 8))], ["y"]),
        "Einsum with a long equation": lambda: wire.model([wire.node("Einsum", ["x"], ["y"], attributes=[
            wire.field(1, "equation") + wire.field(4, "a" * 1_000_000) + wire.field(20, 3)])], outputs=["y"]),
        "Transpose with a long order": lambda: wire.model(
            [wire.node("Transpose", ["x"], ["y"], attributes=[wire.ints("perm", range(1_000_000))])], outputs=["y"]),
        "Unsqueeze many axes": shaped("Unsqueeze", "x", "axes", axes=list(range(60_000))),
        "folded Neg": folded("Neg"),
        "folded Add": folded("Add", "one"),
        "folded Identity": folded("Identity"),
        "folded Concat": lambda: wire.model(
            [wire.node("Concat", ["c", "c"], [f"y{i}"], attributes=[wire.integer("axis", 0)]) for i in range(20_000)],
            outputs=["y0"], initializers=constants(c=list(range(32_768)))),
    }


def count_bombs() -> dict:
    empty = [f"t{i}" for i in range(200_000)]

    def sequences(steps: int):
        nodes = [wire.node("SequenceEmpty", [], ["s0"])]
        nodes += [wire.node("SequenceInsert", [f"s{i}", "x"], [f"s{i + 1}"]) for i in range(steps)]
        return wire.model(nodes)

    return {
        "1,000,000 empty nodes": lambda: wire.field(7, b"\x0a\x00" * 1_000_000) + wire.field(8, wire.field(2, 17)),
        "4,000,000 empty nodes": lambda: wire.field(7, b"\x0a\x00" * 4_000_000) + wire.field(8, wire.field(2, 17)),
        "3,000,000 empty attributes": lambda: wire.model([b"\x2a\x00" * 2_900_000]),
        "2,900,000 empty initializers": lambda: wire.model(graph_tail=b"\x2a\x00" * 2_900_000),
        "2,900,000 empty inputs": lambda: wire.model(graph_tail=b"\x5a\x00" * 2_900_000),
        "2,900,000 empty functions": lambda: wire.model() + b"\xca\x01\x00" * 2_900_000,
        "10,000,000 empty input names": lambda: wire.model([b"\x0a\x00" * 10_000_000 + wire.field(4, "Sum")]),
        "10,000,000 empty output names": lambda: wire.model([b"\x12\x00" * 10_000_000 + wire.field(4, "Relu")]),
        "20,000,000 numbers in a list": lambda: wire.model(
            [wire.node("Relu", ["x"], ["y"], attributes=[wire.field(1, "n") + wire.field(8, b"\1" * 20_000_000)])]),
        "20,000,000 axes": lambda: wire.model(
            initializers=[wire.field(8, "w") + wire.field(2, 1) + wire.field(1, b"\1" * 20_000_000)]),
        "20,000,000 strings": lambda: wire.model([wire.node("Relu", ["x"], ["y"], attributes=[
            wire.field(1, "n") + b"\x4a\x00" * 20_000_000])]),
        "Split into 200,000": lambda: wire.model([wire.node("Split", ["x"], empty)], [wire.value("x", (200_000,))],
                                                   opset=11),
        "Sum of 200,000": lambda: wire.model([wire.node("Sum", ["x"] * 200_000, ["y"])], outputs=["y"]),
        "Concat of 200,000": lambda: wire.model(
            [wire.node("Concat", ["x"] * 200_000, ["y"], attributes=[wire.integer("axis", 0)])], outputs=["y"]),
        "SplitToSequence into 1,000,000": lambda: wire.model(
            [wire.node("SplitToSequence", ["x"], ["y"])], [wire.value("x", (1_000_000,))]),
        "SplitToSequence, 1,000 times 60,000": lambda: wire.model(
            [wire.node("SplitToSequence", ["x"], [f"y{i}"]) for i in range(1_000)], [wire.value("x", (60_000,))]),
        "SequenceInsert, 30,000 times": lambda: sequences(30_000),
        "a long name undefined": lambda: wire.model(
            [wire.node("Relu", ["z"], [chr(97 + i) * 1_000_000]) for i in range(20)]),
        "100,000 names, one undefined": lambda: wire.model(
            [wire.node("Relu", ["x"], [f"t{i}"]) for i in range(100_000)] + [wire.node("Relu", ["t-1"], ["y"])]),
        "100,000 nodes of one name": lambda: wire.model(
            [wire.node("Relu", ["x"], [f"t{i}"], "same") for i in range(100_000)]),
        "100,000 outputs": lambda: wire.model(outputs=["x"] * 100_000),
        "100,000 symbols": lambda: wire.model(
            inputs=[wire.value(f"x{i}", (f"a{i}", f"b{i}")) for i in range(50_000)]),
        **{f"100,000 {op_type} in a row": lambda op_type=op_type: wire.model(
            wire.chain(op_type, 100_000, "w"), outputs=["y"], initializers=[wire.weight("w", [8, 8])])
           for op_type in ("Identity", "Transpose")},
        "100,000 products with one weight": lambda: wire.model(
            [wire.node("MatMul", ["x", "w"], [f"y{i}"]) for i in range(100_000)], [wire.value("x", (8, 8))],
            initializers=[wire.weight("w", [8, 8])]),
        "nodes in reverse order": lambda: wire.model(wire.chain("Relu", 100_000)[::-1], outputs=["y"]),
    }


def loop(turns: str, body: list[bytes], name: str) -> bytes:
    """A loop over x whose body turns v into w."""
    graph = wire.fields(1, [wire.node("Identity", ["c"], ["d"]), *body])
    graph += wire.fields(11, [wire.value("i", (), wire.INT64), wire.value("c", (), wire.BOOL), wire.value("v")])
    graph += wire.fields(12, [wire.value("d", (), wire.BOOL), wire.value("w")])
    return wire.node("Loop", [turns, "", "x"], [name], attributes=[
        wire.field(1, "body") + wire.field(6, graph) + wire.field(20, 5)])


def loop_bombs() -> dict:
    def looped(turns: int, body: list[bytes]):
        return lambda: wire.model([loop("n", body, "y")], outputs=["y"],
                                  initializers=[wire.tensor("n", [turns], []), wire.tensor("m", [3], [])])

    def nested(depth: int, turns: str) -> list[bytes]:
        if depth == 0:
            return [wire.node("Relu", ["v"], ["w"])]
        inner = loop(turns, nested(depth - 1, turns), "w")
        return [wire.node("Identity", ["v"], [f"k{depth}"]), inner]

    growing = [wire.node("Concat", ["v", "v"], ["w"], attributes=[wire.integer("axis", 0)])]
    return {
        "turns without end": looped(LARGE, [wire.node("Relu", ["v"], ["w"])]),
        "turns that do nothing": looped(LARGE, [wire.node("Identity", ["v"], ["w"])]),
        "2^63 - 1 turns": looped((1 << 63) - 1, [wire.node("Relu", ["v"], ["w"])]),
        "-1 turns": looped(-1, [wire.node("Relu", ["v"], ["w"])]),
        "turns that double": looped(1000, growing),
        "loops in loops": looped(3, nested(20, "m")),
        "loops in loops without end": looped(LARGE, nested(20, "n")),
    }


FUNCTIONS, SIZES, COUNTS, LOOPS = function_bombs(), size_bombs(), count_bombs(), loop_bombs()


def explode(monet, path, content: bytes, *options: str) -> None:
    path.write_bytes(content)
    result = survives(monet, path, *options)
    path.unlink()
    print(f"{len(content)} bytes: status {result.returncode}, {result.cpu_s:.2f} s: {result.stderr[-200:].decode()}")
    assert len(result.stderr) < 100_000, "a message that nobody can read"


@pytest.mark.parametrize("bomb", FUNCTIONS)
def test_functions(monet, tmp_path, bomb) -> None:
    explode(monet, tmp_path / "bomb.onnx", FUNCTIONS[bomb]())


@pytest.mark.parametrize("bomb", LOOPS)
def test_loops(monet, tmp_path, bomb) -> None:
    explode(monet, tmp_path / "bomb.onnx", LOOPS[bomb]())


@pytest.mark.parametrize("bomb", COUNTS)
def test_counts(monet, tmp_path, bomb) -> None:
    explode(monet, tmp_path / "bomb.onnx", COUNTS[bomb]())


@pytest.mark.parametrize("batch", ((), ("--batch", "2")), ids=("", "batch"))
@pytest.mark.parametrize("bomb", SIZES)
def test_sizes(monet, tmp_path, bomb, batch) -> None:
    explode(monet, tmp_path / "bomb.onnx", SIZES[bomb](), *batch)


def test_time_grows_with_the_nodes(monet, tmp_path) -> None:
    """A curve, not a pass mark."""
    times = {}
    for count in (20_000, 100_000):
        path = tmp_path / f"{count}.onnx"
        path.write_bytes(wire.model(wire.chain("Relu", count), outputs=["y"]))
        result = survives(monet, path, "--json")
        found = json.loads(result.stdout)
        assert found["nodes"]["forward"] == count and found["other_operations"]["forward"] == 4 * 8 * count
        times[count] = result.cpu_s
    print(f"{times}: five times the nodes, {times[100_000] / times[20_000]:.1f} times as long")
