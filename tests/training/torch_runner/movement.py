"""Operators that move data: padding, gathering, scattering, sampling."""

import math

import torch
import torch.nn.functional as F

from torch_runner.convolution import innermost_first
from torch_runner.node import Node, Unsupported, operator


def source(i: int, size: int, mode: str) -> int:
    """Which element stands at place i of an axis that is continued beyond its ends."""
    if mode == "edge":
        return min(max(i, 0), size - 1)
    if mode == "wrap":
        return i % size
    period = 2 * (size - 1)
    i = i % period if period else 0
    return min(i, period - i)


@operator("Pad")
def pad(n: Node):
    x, rank = n.input(), n.input().dim()
    amounts = n.integers("pads", 1)
    axes = [axis % rank for axis in n.input(3).tolist()] if n.has(3) else list(range(rank))
    begins, ends = [0] * rank, [0] * rank
    for i, axis in enumerate(axes):
        begins[axis], ends[axis] = amounts[i], amounts[i + len(axes)]
    mode = n.attribute("mode", "constant")
    if mode == "constant":
        pads = innermost_first(begins, ends)
        value = n.input(2) if n.has(2) else n.attribute("value", 0.0)
        if not isinstance(value, torch.Tensor) or not value.requires_grad:
            return F.pad(x, pads, value=float(value) if x.is_floating_point() else int(value))
        return torch.where(F.pad(torch.ones_like(x), pads) > 0, F.pad(x, pads), value.reshape(()))
    for axis, size in enumerate(x.shape):
        places = [source(i, size, mode) for i in range(-begins[axis], size + ends[axis])]
        x = x.index_select(axis, torch.tensor(places))
    return x


@operator("CenterCropPad")
def center_crop_pad(n: Node):
    x, rank = n.input(), n.input().dim()
    axes = [axis % rank for axis in n.attribute("axes", list(range(rank)))]
    begins, ends = [0] * rank, [0] * rank
    for axis, wanted in zip(axes, n.input(1).tolist()):
        missing = wanted - x.shape[axis]
        begins[axis] = missing // 2 if missing >= 0 else -(-missing // 2)
        ends[axis] = missing - begins[axis]
    return F.pad(x, innermost_first(begins, ends))


@operator("Tile")
def tile(n: Node):
    return n.input().repeat(n.input(1).tolist())


def wrapped(index: torch.Tensor, size: int) -> torch.Tensor:
    index = index.to(torch.int64)
    return torch.where(index < 0, index + size, index)


@operator("Gather")
def gather(n: Node):
    x, axis = n.input(), n.attribute("axis", 0) % n.input().dim()
    index = wrapped(n.input(1), x.shape[axis])
    if axis == 0 and x.dim() == 2:
        return F.embedding(index, x)
    chosen = x.index_select(axis, index.reshape(-1))
    return chosen.reshape(*x.shape[:axis], *index.shape, *x.shape[axis + 1:])


@operator("GatherElements")
def gather_elements(n: Node):
    x, axis = n.input(), n.attribute("axis", 0)
    return torch.gather(x, axis, wrapped(n.input(1), x.shape[axis]))


@operator("GatherND")
def gather_nd(n: Node):
    x, index, batch = n.input(0), n.input(1), n.attribute("batch_dims", 0)
    columns = [index[..., k] for k in range(index.shape[-1])]
    lead = []
    for axis in range(batch):
        shape = [1] * columns[0].dim()
        shape[axis] = -1
        lead.append(torch.arange(x.shape[axis]).reshape(shape))
    return x[tuple(lead + columns)]


REDUCTIONS = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}


def scatter(x, axis, index, updates, reduction):
    if reduction == "none":
        return torch.scatter(x, axis, index, updates)
    if reduction == "add":
        return torch.scatter_add(x, axis, index, updates)
    return torch.scatter_reduce(x, axis, index, updates, REDUCTIONS[reduction], include_self=True)


@operator("Scatter", "ScatterElements")
def scatter_elements(n: Node):
    x, axis = n.input(0), n.attribute("axis", 0)
    return scatter(x, axis, wrapped(n.input(1), x.shape[axis]), n.input(2), n.attribute("reduction", "none"))


@operator("ScatterND")
def scatter_nd(n: Node):
    x, index, updates = (n.input(i) for i in range(3))
    length = index.shape[-1]
    rows = torch.zeros(index.shape[:-1], dtype=torch.int64)
    for k in range(length):
        rows = rows * x.shape[k] + wrapped(index[..., k], x.shape[k])
    width = math.prod(x.shape[length:])
    places = rows.reshape(-1, 1).expand(-1, width)
    y = scatter(x.reshape(-1, width), 0, places, updates.reshape(-1, width), n.attribute("reduction", "none"))
    return y.reshape(x.shape)


@operator("Trilu")
def triangle(n: Node):
    return (torch.triu if n.attribute("upper", 1) else torch.tril)(n.input(), int(n.input(1)) if n.has(1) else 0)


@operator("GridSample")
def grid_sample(n: Node):
    mode = n.attribute("mode", "linear")
    mode = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
    return F.grid_sample(n.input(0), n.input(1), mode=mode, padding_mode=n.attribute("padding_mode", "zeros"),
                         align_corners=bool(n.attribute("align_corners", 0)))


@operator("OneHot")
def one_hot(n: Node):
    index, depth, values = n.input(0).to(torch.int64), int(n.input(1)), n.input(2)
    index = torch.where(index < 0, index + depth, index)
    axis = n.attribute("axis", -1)
    hot = (index.unsqueeze(-1) == torch.arange(depth)).movedim(-1, axis)
    return torch.where(hot, values[1], values[0])


@operator("ReverseSequence")
def reverse_sequence(n: Node):
    x, lengths = n.input(0), n.input(1)
    batch, time = n.attribute("batch_axis", 1), n.attribute("time_axis", 0)
    x = x.movedim((batch, time), (0, 1))
    rows = [torch.cat([row[:count].flip(0), row[count:]]) for row, count in zip(x, lengths.tolist())]
    return torch.stack(rows).movedim((0, 1), (batch, time))


@operator("MaxUnpool")
def max_unpool(n: Node):
    x, index = n.input(0), n.input(1)
    rank = x.dim() - 2
    strides, pads = n.attribute("strides", [1] * rank), n.attribute("pads", [0] * (2 * rank))
    if n.has(2):
        if list(n.input(2)[:2]) != list(x.shape[:2]):
            raise Unsupported("MaxUnpool to other channels")
        shape = n.input(2).tolist()
    else:
        shape = list(x.shape[:2]) + [
            (x.shape[k + 2] - 1) * strides[k] - pads[k] - pads[k + rank] + n.attribute("kernel_shape")[k]
            for k in range(rank)]
    return torch.zeros(math.prod(shape), dtype=x.dtype).scatter(0, index.reshape(-1), x.reshape(-1)).reshape(shape)
