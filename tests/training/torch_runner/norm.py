"""Normalizations."""

import numpy as np
import torch
import torch.nn.functional as F

from torch_runner.node import MICROSOFT, Node, operator

EPSILON = np.float32(1e-5).item()


@operator("BatchNormalization")
def batch_norm(n: Node):
    x, scale, bias = (n.input(i) for i in range(3))
    mean, variance = n.input(3).detach(), n.input(4).detach()  # buffers: no gradient flows through them
    epsilon, kept = n.attribute("epsilon", EPSILON), n.attribute("momentum", np.float32(0.9).item())
    if not n.attribute("training_mode", 0):
        return F.batch_norm(x, mean, variance, scale, bias, False, 0.0, epsilon)
    y = F.batch_norm(x, None, None, scale, bias, True, 0.0, epsilon)
    axes = [axis for axis in range(x.dim()) if axis != 1]
    with torch.no_grad():
        new_mean = kept * mean + (1 - kept) * x.mean(axes)
        new_variance = kept * variance + (1 - kept) * x.var(axes, correction=0)
    return y, new_mean, new_variance


def normalized_shape(n: Node) -> list[int]:
    return list(n.input().shape[n.attribute("axis", -1):])


@operator("LayerNormalization")
def layer_norm(n: Node):
    x, shape, epsilon = n.input(), normalized_shape(n), n.attribute("epsilon", EPSILON)
    y = F.layer_norm(x, shape, n.input(1), n.input(2), epsilon)
    axes = list(range(x.dim() - len(shape), x.dim()))
    with torch.no_grad():  # statistics for the backward part: PyTorch does not differentiate them either
        mean = x.mean(axes, keepdim=True)
        inverse = torch.rsqrt(x.var(axes, correction=0, keepdim=True) + epsilon)
    return y, mean, inverse


@operator("SimplifiedLayerNormalization", "RMSNormalization")
def rms_norm(n: Node):
    return F.rms_norm(n.input(), normalized_shape(n), n.input(1), n.attribute("epsilon", EPSILON))


@operator("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def skip_norm(n: Node):
    simplified = n.op == "SkipSimplifiedLayerNormalization"
    bias = n.input(3 if simplified else 4)
    total = n.input(0) + n.input(1) if bias is None else n.input(0) + n.input(1) + bias
    epsilon = n.attribute("epsilon", np.float32(1e-12).item())
    shape = [total.shape[-1]]
    y = F.rms_norm(total, shape, n.input(2), epsilon) if simplified else F.layer_norm(total, shape, n.input(2),
                                                                                       n.input(3), epsilon)
    return y, None, None, total


@operator("GroupNormalization")
def group_norm(n: Node):
    x, groups = n.input(), n.attribute("num_groups")
    scale, bias = n.input(1), n.input(2)
    if n.opset < 21:  # one value a group
        scale, bias = (p.repeat_interleave(x.shape[1] // groups) for p in (scale, bias))
    return F.group_norm(x, groups, scale, bias, n.attribute("epsilon", EPSILON))


@operator("InstanceNormalization")
def instance_norm(n: Node):
    return F.instance_norm(n.input(), weight=n.input(1), bias=n.input(2), eps=n.attribute("epsilon", EPSILON))


@operator("LpNormalization")
def lp_norm(n: Node):
    return F.normalize(n.input(), p=n.attribute("p", 2), dim=n.attribute("axis", -1))


@operator("MeanVarianceNormalization")
def mean_variance(n: Node):
    x, axes = n.input(), n.attribute("axes", [0, 2, 3])
    return (x - x.mean(axes, keepdim=True)) / (x.std(axes, correction=0, keepdim=True) + 1e-9)


@operator("LRN")
def local_response(n: Node):
    return F.local_response_norm(n.input(), n.attribute("size"), n.attribute("alpha", np.float32(1e-4).item()),
                                 n.attribute("beta", 0.75), n.attribute("bias", 1.0))
