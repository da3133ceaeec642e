"""Softmax and the losses on top of it."""

import torch
import torch.nn.functional as F

from torch_runner.node import Node, operator

NOTHING_IGNORED = -(2**31)


@operator("Softmax", "LogSoftmax")
def softmax(n: Node):
    x = n.input()
    function = F.softmax if n.op == "Softmax" else F.log_softmax
    if n.opset >= 13:
        return function(x, n.attribute("axis", -1))
    axis = n.attribute("axis", 1) % x.dim()
    rows = (x.flatten(0, axis - 1) if axis else x.unsqueeze(0)).flatten(1)
    return function(rows, 1).reshape(x.shape)


def weighted(log_probabilities, target, weight, ignored: int, reduction: str) -> torch.Tensor:
    """nll_loss composed, since PyTorch has no derivative of it with respect to the classes' weights."""
    counted = target != ignored
    weights = weight[target.where(counted, torch.zeros_like(target))] * counted
    losses = weights * F.nll_loss(log_probabilities, target, ignore_index=ignored, reduction="none")
    if reduction == "none":
        return losses
    return losses.sum() / weights.sum() if reduction == "mean" else losses.sum()


def negative_log_likelihood(n: Node, log_probabilities: torch.Tensor) -> torch.Tensor:
    target, weight = n.input(1).to(torch.int64), n.input(2)
    reduction, ignored = n.attribute("reduction", "mean"), n.attribute("ignore_index", NOTHING_IGNORED)
    if weight is None or not weight.requires_grad:
        return F.nll_loss(log_probabilities, target, weight, ignore_index=ignored, reduction=reduction)
    loss = F.nll_loss(log_probabilities, target, weight.detach(), ignore_index=ignored, reduction=reduction)
    by_weight = weighted(log_probabilities.detach(), target, weight, ignored, reduction)
    return loss + (by_weight - by_weight.detach())


@operator("NegativeLogLikelihoodLoss")
def nll_loss(n: Node):
    return negative_log_likelihood(n, n.input())


@operator("SoftmaxCrossEntropyLoss")
def cross_entropy(n: Node):
    log_probabilities = F.log_softmax(n.input(), 1)
    return negative_log_likelihood(n, log_probabilities), log_probabilities
