"""Reductions, running sums, sorting."""

import torch
import torch.nn.functional as F

from torch_runner.node import Node, operator


def product(x: torch.Tensor, axes: list[int]) -> torch.Tensor:
    for axis in axes:
        x = torch.prod(x, axis, keepdim=True, dtype=x.dtype)
    return x


REDUCTIONS = {
    "ReduceL1": lambda x, axes: torch.sum(x.abs(), axes, keepdim=True, dtype=x.dtype),
    "ReduceL2": lambda x, axes: torch.linalg.vector_norm(x, 2, axes, keepdim=True),
    "ReduceLogSum": lambda x, axes: torch.log(torch.sum(x, axes, keepdim=True)),
    "ReduceLogSumExp": lambda x, axes: torch.logsumexp(x, axes, keepdim=True),
    "ReduceMax": lambda x, axes: torch.amax(x, axes, keepdim=True),
    "ReduceMean": lambda x, axes: torch.mean(x, axes, keepdim=True),
    "ReduceMin": lambda x, axes: torch.amin(x, axes, keepdim=True),
    "ReduceProd": product,
    "ReduceSum": lambda x, axes: torch.sum(x, axes, keepdim=True, dtype=x.dtype),
    "ReduceSumSquare": lambda x, axes: torch.sum(x.square(), axes, keepdim=True, dtype=x.dtype),
}
THROUGH_FLOAT = {"ReduceL2", "ReduceMean"}  # integers have no such function in PyTorch


@operator(*REDUCTIONS)
def reduce(n: Node):
    x = n.input()
    axes = n.integers("axes", 1)
    if x.dim() == 0 or (not axes and n.attribute("noop_with_empty_axes", 0)):
        return REDUCTIONS[n.op](x.unsqueeze(-1), [-1]).squeeze(-1)
    axes = sorted(axis % x.dim() for axis in axes) if axes else list(range(x.dim()))
    kind = x.dtype
    x = x.to(torch.float64) if not x.is_floating_point() and n.op in THROUGH_FLOAT else x
    y = REDUCTIONS[n.op](x, axes).to(kind)
    if n.attribute("keepdims", 1):
        return y
    return y.reshape([size for axis, size in enumerate(y.shape) if axis not in axes])


@operator("ArgMax", "ArgMin")
def arg(n: Node):
    x, axis = n.input(), n.attribute("axis", 0)
    last = n.attribute("select_last_index", 0)
    x = (x.flip(axis) if last else x).to(torch.float64)
    best = (torch.argmax if n.op == "ArgMax" else torch.argmin)(x, axis, keepdim=bool(n.attribute("keepdims", 1)))
    return x.shape[axis] - 1 - best if last else best


@operator("CumSum")
def cumulative_sum(n: Node):
    x, axis = n.input(), int(n.input(1).reshape(()))
    reverse = n.attribute("reverse", 0)
    x = x.flip(axis) if reverse else x
    y = torch.cumsum(x, axis, dtype=x.dtype)
    if n.attribute("exclusive", 0):
        y = torch.cat([torch.zeros_like(y.narrow(axis, 0, 1)), y.narrow(axis, 0, y.shape[axis] - 1)], axis)
    return y.flip(axis) if reverse else y


@operator("TopK")
def top_k(n: Node):
    x, axis = n.input(), n.attribute("axis", -1)
    values, indices = torch.sort(x, dim=axis, descending=bool(n.attribute("largest", 1)), stable=True)
    count = n.integers("k", 1)[0]
    return values.narrow(axis, 0, count), indices.narrow(axis, 0, count)


@operator("Hardmax")
def hardmax(n: Node):
    x = n.input()
    if n.opset < 13:
        axis = n.attribute("axis", 1) % x.dim()
        rows = x.flatten(0, axis - 1) if axis else x.unsqueeze(0)
        rows = rows.flatten(1)
        return F.one_hot(rows.argmax(1), rows.shape[1]).to(x.dtype).reshape(x.shape)
    axis = n.attribute("axis", -1)
    return F.one_hot(x.argmax(axis), x.shape[axis]).to(x.dtype).movedim(-1, axis)
