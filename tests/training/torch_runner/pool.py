"""Pooling: PyTorch's own windows over an image that is padded first, since ONNX pads in more ways."""

import torch
import torch.nn.functional as F

from torch_runner.convolution import CONVOLUTIONS, innermost_first, windows
from torch_runner.node import Node, operator

MAX_POOLS = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
AVERAGE_POOLS = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}


class Windows:
    """Where the windows of a pooling node lie; `overhang` is what ceil_mode needs beyond the declared padding."""

    def __init__(self, n: Node):
        sizes = list(n.input().shape[2:])
        self.kernel = n.attribute("kernel_shape")
        self.strides, self.dilations, self.begins, self.ends = windows(n, sizes, self.kernel)
        self.overhang = []
        for size, k, stride, dilation, begin, end in zip(sizes, self.kernel, self.strides, self.dilations, self.begins,
                                                         self.ends):
            reach = (k - 1) * dilation + 1
            free = size + begin + end - reach
            count = free // stride + 1
            if n.attribute("ceil_mode", 0) and free % stride and count * stride < size + begin:
                count += 1
            self.overhang.append((count - 1) * stride + reach - size - begin - end)

    def padded(self, x: torch.Tensor, value: float) -> torch.Tensor:
        return F.pad(x, innermost_first(self.begins, self.ends), value=value)

    def extended(self, x: torch.Tensor, value: float) -> torch.Tensor:
        return F.pad(x, innermost_first([0] * len(self.kernel), self.overhang), value=value)

    def sums(self, x: torch.Tensor) -> torch.Tensor:
        """Sum over each window of an image that is padded and extended."""
        channels = x.shape[1]
        ones = torch.ones(channels, 1, *self.kernel, dtype=x.dtype)
        return CONVOLUTIONS[len(self.kernel)](x, ones, None, self.strides, 0, self.dilations, channels)


@operator("MaxPool")
def max_pool(n: Node):
    x, at = n.input(), Windows(n)
    kind = x.dtype
    image = at.extended(at.padded(x.to(n.dtype), -torch.inf), -torch.inf)
    y, index = MAX_POOLS[len(at.kernel)](image, at.kernel, at.strides, 0, at.dilations, return_indices=True)
    column_major = n.attribute("storage_order", 0) == 1
    coordinates = torch.unravel_index(index, image.shape[2:])
    position, stride = torch.zeros_like(index), 1
    axes = list(enumerate(x.shape[2:]))
    for axis, size in axes if column_major else reversed(axes):
        position = position + (coordinates[axis] - at.begins[axis]) * stride
        stride = stride * size
    planes = torch.arange(x.shape[0] * x.shape[1]).reshape(*x.shape[:2], *[1] * len(at.kernel))
    return y.to(kind), position + planes * stride


@operator("AveragePool")
def average_pool(n: Node):
    x, at = n.input(), Windows(n)
    include = bool(n.attribute("count_include_pad", 0))
    small = all(2 * begin <= k for begin, k in zip(at.begins, at.kernel))
    if at.begins == at.ends and small and set(at.dilations) == {1} and max(at.overhang) <= 0:
        return AVERAGE_POOLS[len(at.kernel)](x, at.kernel, at.strides, at.begins, count_include_pad=include)
    counts = at.sums(at.extended(at.padded(torch.ones_like(x), 1.0 if include else 0.0), 0.0))
    return at.sums(at.extended(at.padded(x, 0.0), 0.0)) / counts


def root(sums: torch.Tensor, p: int) -> torch.Tensor:
    """The p-th root, with derivative 0 where a window lies in padding alone."""
    if p == 1:
        return sums
    empty = sums == 0
    return torch.where(empty, sums, torch.where(empty, torch.ones_like(sums), sums) ** (1 / p))


@operator("LpPool")
def lp_pool(n: Node):
    p, at = n.attribute("p", 2), Windows(n)
    return root(at.sums(at.extended(at.padded(n.input().abs() ** p, 0.0), 0.0)), p)


@operator("GlobalAveragePool")
def global_average_pool(n: Node):
    return n.input().mean(list(range(2, n.input().dim())), keepdim=True)


@operator("GlobalMaxPool")
def global_max_pool(n: Node):
    x = n.input()
    return MAX_POOLS[x.dim() - 2](x, list(x.shape[2:]))


@operator("GlobalLpPool")
def global_lp_pool(n: Node):
    return torch.linalg.vector_norm(n.input(), n.attribute("p", 2), list(range(2, n.input().dim())), keepdim=True)
