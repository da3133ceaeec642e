"""Sequences of tensors, as Python lists."""

import torch

from torch_runner.node import Node, operator


@operator("SequenceConstruct")
def construct(n: Node):
    return [*n.inputs]


@operator("SequenceEmpty")
def empty(n: Node):
    return []


@operator("SequenceAt")
def at(n: Node):
    return n.input(0)[int(n.input(1))]


@operator("SequenceLength")
def length(n: Node):
    return torch.tensor(len(n.input()))


@operator("SequenceInsert")
def insert(n: Node):
    result = list(n.input(0))
    result.insert(int(n.input(2)) if n.has(2) else len(result), n.input(1))
    return result


@operator("SequenceErase")
def erase(n: Node):
    result = list(n.input(0))
    result.pop(int(n.input(1)) if n.has(1) else -1)
    return result


@operator("ConcatFromSequence")
def concat(n: Node):
    return (torch.stack if n.attribute("new_axis", 0) else torch.cat)(n.input(), n.attribute("axis"))


@operator("SplitToSequence")
def split(n: Node):
    x, axis = n.input(), n.attribute("axis", 0)
    if not n.has(1):
        parts = x.split(1, axis)
        return [*parts] if n.attribute("keepdims", 1) else [part.squeeze(axis) for part in parts]
    return [*x.split(n.input(1).tolist(), axis)]
