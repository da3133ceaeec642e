"""Operators that only say where values lie."""

import math

import torch
import torch.nn.functional as F

from torch_runner.node import Node, operator


@operator("Identity")
def identity(n: Node):
    return n.input()


@operator("Reshape")
def reshape(n: Node):
    x, shape = n.input(), n.input(1).tolist()
    if not n.attribute("allowzero", 0):
        shape = [x.shape[i] if size == 0 else size for i, size in enumerate(shape)]
    return x.reshape(shape)


@operator("Flatten")
def flatten(n: Node):
    x, axis = n.input(), n.attribute("axis", 1)
    axis = axis + x.dim() if axis < 0 else axis
    return x.reshape(math.prod(x.shape[:axis]), -1)


@operator("Squeeze")
def squeeze(n: Node):
    axes = n.integers("axes", 1)
    return n.input().squeeze() if axes is None else n.input().squeeze(axes)


@operator("Unsqueeze")
def unsqueeze(n: Node):
    x, axes = n.input(), n.integers("axes", 1)
    for axis in sorted(axis % (x.dim() + len(axes)) for axis in axes):
        x = x.unsqueeze(axis)
    return x


@operator("Transpose")
def transpose(n: Node):
    return n.input().permute(n.attribute("perm", list(reversed(range(n.input().dim())))))


@operator("Slice")
def slices(n: Node):
    x = n.input()
    starts, ends = n.integers("starts", 1), n.integers("ends", 2)
    axes = n.integers("axes", 3) or range(len(starts))
    steps = n.integers("steps", 4) or [1] * len(starts)
    for start, end, axis, step in zip(starts, ends, axes, steps):
        chosen = range(*slice(start, end, step).indices(x.shape[axis]))
        x = x.index_select(axis, torch.tensor(list(chosen), dtype=torch.int64))
    return x


@operator("Split")
def split(n: Node):
    x, axis = n.input(), n.attribute("axis", 0)
    count = len(n.outputs)
    sizes = n.integers("split", 1) or -(-x.shape[axis] // count)
    return tuple(x.split(sizes, axis))


@operator("Concat")
def concat(n: Node):
    return torch.cat(n.inputs, n.attribute("axis", 1))


@operator("Expand")
def expand(n: Node):
    return n.input().expand(torch.broadcast_shapes(n.input().shape, n.input(1).tolist()))


@operator("DepthToSpace")
def depth_to_space(n: Node):
    x, block = n.input(), n.attribute("blocksize")
    if n.attribute("mode", "DCR") == "CRD":
        return F.pixel_shuffle(x, block)
    batch, channels, height, width = x.shape
    x = x.reshape(batch, block, block, channels // block**2, height, width).permute(0, 3, 4, 1, 5, 2)
    return x.reshape(batch, channels // block**2, height * block, width * block)


@operator("SpaceToDepth")
def space_to_depth(n: Node):
    x, block = n.input(), n.attribute("blocksize")
    batch, channels, height, width = x.shape
    x = x.reshape(batch, channels, height // block, block, width // block, block).permute(0, 3, 5, 1, 2, 4)
    return x.reshape(batch, channels * block**2, height // block, width // block)
