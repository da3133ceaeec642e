"""Sequences, which are gone after reading: two or three nodes each, with tensors at both ends."""

import numpy as np
from onnx import helper, numpy_helper

from case import FLOAT, INT64, tensor_type
from cases_view import integers, values


def graph(name, nodes, inputs, outputs, constants=None, opset=13):
    """(name, model, inputs) of nodes given as (operator, inputs, outputs, attributes)."""
    made = [helper.make_node(op, ins, outs, name=f"node{i}", **attributes)
            for i, (op, ins, outs, attributes) in enumerate(nodes)]
    built = helper.make_graph(
        made, name, [helper.make_tensor_value_info(key, tensor_type(x), x.shape) for key, x in inputs.items()],
        [helper.make_tensor_value_info(key, kind, None) for key, kind in outputs.items()],
        [numpy_helper.from_array(x, key) for key, x in (constants or {}).items()])
    return name, helper.make_model(built, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), inputs


def splits(rng):
    choices = {"one": None, "scalar": np.int64(2), "scalar_uneven": np.int64(4), "vector": integers(1, 3, 2)}
    for label, split in choices.items():
        for axis in (0, 1, -1):
            for keepdims in (1,) if label.startswith("scalar") else (0, 1):
                inputs = ["x"] if split is None else ["x", "split"]
                constants = {"at": np.int64(-1)} | ({} if split is None else {"split": split})
                yield graph(f"SplitToSequence_{label}_{axis}_{keepdims}",
                            [("SplitToSequence", inputs, ["s"], {"axis": axis, "keepdims": keepdims}),
                             ("SequenceAt", ["s", "at"], ["y"], {}),
                             ("Relu", ["y"], ["z"], {})],
                            {"x": values(rng, 6, 6)}, {"z": FLOAT}, constants)
    yield graph("SplitToSequence_joined", [("SplitToSequence", ["x"], ["s"], {"axis": 1}),
                                           ("ConcatFromSequence", ["s"], ["y"], {"axis": 0})],
                {"x": values(rng, 2, 3)}, {"y": FLOAT})
    yield graph("SplitToSequence_stacked",
                [("SplitToSequence", ["x"], ["s"], {"axis": 1, "keepdims": 0}),
                 ("ConcatFromSequence", ["s"], ["y"], {"axis": 0, "new_axis": 1})],
                {"x": values(rng, 2, 3)}, {"y": FLOAT})


def joins(rng):
    pair = {"a": values(rng, 2, 3), "b": values(rng, 2, 3)}
    for new_axis in (0, 1):
        for axis in (0, 1, -1, -2) + ((2, -3) if new_axis else ()):
            yield graph(f"ConcatFromSequence_{new_axis}_{axis}",
                        [("SequenceConstruct", ["a", "b"], ["s"], {}),
                         ("ConcatFromSequence", ["s"], ["y"], {"axis": axis, "new_axis": new_axis})],
                        pair, {"y": FLOAT})


def edits(rng):
    three = {"a": values(rng, 1, 2), "b": values(rng, 2, 2), "c": values(rng, 3, 2)}
    construct = ("SequenceConstruct", ["a", "b"], ["s"], {})
    join = ("ConcatFromSequence", ["t"], ["y"], {"axis": 0})
    for at in (None, 0, 1, 2, -1, -2):
        place = [] if at is None else ["at"]
        constants = {} if at is None else {"at": np.int64(at)}
        yield graph(f"SequenceInsert_{at}", [construct, ("SequenceInsert", ["s", "c"] + place, ["t"], {}), join],
                    three, {"y": FLOAT}, constants)
    whole = ("SequenceConstruct", ["a", "b", "c"], ["s"], {})
    for at in (None, 0, 1, 2, -1, -3):
        place = [] if at is None else ["at"]
        constants = {} if at is None else {"at": np.int64(at)}
        yield graph(f"SequenceErase_{at}", [whole, ("SequenceErase", ["s"] + place, ["t"], {}), join], three,
                    {"y": FLOAT}, constants)
    for at in (0, 2, -1, -3):
        yield graph(f"SequenceAt_{at}", [whole, ("SequenceAt", ["s", "at"], ["t"], {}), ("Neg", ["t"], ["y"], {})],
                    three, {"y": FLOAT}, {"at": np.int64(at)})
    yield graph("SequenceEmpty", [("SequenceEmpty", [], ["s"], {"dtype": FLOAT}),
                                  ("SequenceInsert", ["s", "a"], ["t"], {}), join], {"a": three["a"]}, {"y": FLOAT})
    yield graph("SequenceLength", [whole, ("SequenceLength", ["s"], ["n"], {}), ("Neg", ["n"], ["y"], {})], three,
                {"y": INT64})


def cases():
    rng = np.random.default_rng(13)
    for family in (splits, joins, edits):
        yield from family(rng)
