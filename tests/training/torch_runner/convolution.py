"""Conv and ConvTranspose: PyTorch's own, with padding that it cannot express done by F.pad."""

import torch
import torch.nn.functional as F

from torch_runner.node import Node, operator

CONVOLUTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


def innermost_first(begins: list[int], ends: list[int]) -> list[int]:
    """Pads as F.pad takes them."""
    return [amount for pair in zip(reversed(begins), reversed(ends)) for amount in pair]


def windows(n: Node, sizes: list[int], kernel: list[int]):
    """(strides, dilations, begins, ends) for windows that slide over `sizes`."""
    rank = len(sizes)
    strides = n.attribute("strides", [1] * rank)
    dilations = n.attribute("dilations", [1] * rank)
    rule = n.attribute("auto_pad", "NOTSET")
    if rule in ("SAME_UPPER", "SAME_LOWER"):
        begins, ends = [], []
        for size, k, stride, dilation in zip(sizes, kernel, strides, dilations):
            total = max((-(-size // stride) - 1) * stride + (k - 1) * dilation + 1 - size, 0)
            begins.append(total // 2 if rule == "SAME_UPPER" else total - total // 2)
            ends.append(total - begins[-1])
        return strides, dilations, begins, ends
    pads = n.attribute("pads", [0] * (2 * rank)) if rule != "VALID" else [0] * (2 * rank)
    return strides, dilations, pads[:rank], pads[rank:]


def convolve(n: Node, x: torch.Tensor, w: torch.Tensor, bias):
    strides, dilations, begins, ends = windows(n, list(x.shape[2:]), list(w.shape[2:]))
    padding = begins
    if begins != ends:
        x, padding = F.pad(x, innermost_first(begins, ends)), 0
    return CONVOLUTIONS[x.dim() - 2](x, w, bias, strides, padding, dilations, n.attribute("group", 1))


@operator("Conv")
def conv(n: Node):
    return convolve(n, n.input(0), n.input(1), n.input(2))


@operator("ConvInteger")
def conv_integer(n: Node):
    x, w = (n.input(i).to(torch.float64) - (n.input(i + 2).to(torch.float64) if n.has(i + 2) else 0) for i in (0, 1))
    return convolve(n, x, w, None).to(torch.int32)


@operator("ConvTranspose")
def conv_transpose(n: Node):
    x, w = n.input(0), n.input(1)
    rank = x.dim() - 2
    strides = n.attribute("strides", [1] * rank)
    dilations = n.attribute("dilations", [1] * rank)
    extra = n.attribute("output_padding", [0] * rank)
    rule = n.attribute("auto_pad", "NOTSET")
    wanted = n.attribute("output_shape")
    if wanted is None and rule in ("SAME_UPPER", "SAME_LOWER"):
        wanted = [size * stride for size, stride in zip(x.shape[2:], strides)]
    full = TRANSPOSED[rank](x, w, n.input(2), strides, 0, extra, n.attribute("group", 1), dilations)
    if wanted is None:
        pads = n.attribute("pads", [0] * (2 * rank)) if rule == "NOTSET" else [0] * (2 * rank)
        begins, ends = pads[:rank], pads[rank:]
    else:
        totals = [size - out for size, out in zip(full.shape[2:], wanted[-rank:])]
        halves = [total // 2 for total in totals]
        rests = [total - half for total, half in zip(totals, halves)]
        begins, ends = (halves, rests) if rule == "SAME_UPPER" else (rests, halves)
    return F.pad(full, [-amount for amount in innermost_first(begins, ends)])
