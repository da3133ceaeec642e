"""Products: matrices, einsum, attention."""

import math

import torch
import torch.nn.functional as F

from torch_runner.node import MICROSOFT, Node, Unsupported, operator


@operator("MatMul")
def matmul(n: Node):
    return torch.matmul(n.input(0), n.input(1))


@operator("MatMulInteger")
def matmul_integer(n: Node):
    a, b = (n.input(i).to(torch.int32) for i in (0, 1))
    if n.has(2):
        a = a - (n.input(2).to(torch.int32).unsqueeze(-1) if n.input(2).dim() else n.input(2).to(torch.int32))
    return torch.matmul(a, b - n.input(3).to(torch.int32) if n.has(3) else b)


@operator("FusedMatMul", domain=MICROSOFT)
def fused_matmul(n: Node):
    a, b = n.input(0), n.input(1)
    a = a.transpose(-1, -2) if n.attribute("transA", 0) else a
    b = b.transpose(-1, -2) if n.attribute("transB", 0) else b
    return n.attribute("alpha", 1.0) * torch.matmul(a, b)


@operator("Gemm")
def gemm(n: Node):
    a = n.input(0).t() if n.attribute("transA", 0) else n.input(0)
    b = n.input(1).t() if n.attribute("transB", 0) else n.input(1)
    alpha, beta = n.attribute("alpha", 1.0), n.attribute("beta", 1.0)
    return torch.addmm(n.input(2), a, b, beta=beta, alpha=alpha) if n.has(2) else alpha * torch.mm(a, b)


@operator("Einsum")
def einsum(n: Node):
    return torch.einsum(n.attribute("equation"), *n.inputs)


def attend(q, k, v, bias=None, causal=False, past=0, scale=None, softcap=0.0):
    """[batch, heads, tokens, channels]; `bias` is added to the scores, or says which are allowed."""
    mask = bias
    if causal:
        allowed = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(past)
        if mask is None:
            mask = allowed
        else:
            mask = mask & allowed if mask.dtype == torch.bool else mask.masked_fill(~allowed, -math.inf)
    if not softcap:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale, enable_gqa=q.shape[1] != k.shape[1])
    scores = torch.matmul(q, k.transpose(-1, -2)) * (scale if scale is not None else 1 / math.sqrt(q.shape[-1]))
    scores = softcap * torch.tanh(scores / softcap)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    return torch.matmul(torch.softmax(scores, -1), v)


def heads(x: torch.Tensor, count: int) -> torch.Tensor:
    return x.reshape(*x.shape[:2], count, -1).transpose(1, 2)


def joined(x: torch.Tensor) -> torch.Tensor:
    return x.transpose(1, 2).flatten(2)


@operator("Attention")
def attention(n: Node):
    q, k, v = (n.input(i) for i in range(3))
    split = q.dim() == 3
    if split:
        q = heads(q, n.attribute("q_num_heads"))
        k, v = (heads(x, n.attribute("kv_num_heads")) for x in (k, v))
    past = n.input(4).shape[2] if n.has(4) else 0
    if past:
        k, v = torch.cat([n.input(4), k], 2), torch.cat([n.input(5), v], 2)
    y = attend(q, k, v, n.input(3), bool(n.attribute("is_causal", 0)), past, n.attribute("scale"),
               n.attribute("softcap", 0.0))
    return (joined(y) if split else y), k, v


@operator("Attention", domain=MICROSOFT)
def packed_attention(n: Node):
    if any(n.has(i) for i in range(3, 7)):
        raise Unsupported("com.microsoft.Attention with a mask or a past")
    projected = torch.matmul(n.input(0), n.input(1)) + (n.input(2) if n.has(2) else 0)
    q, k, v = (heads(x, n.attribute("num_heads")) for x in projected.chunk(3, -1))
    return joined(attend(q, k, v, None, bool(n.attribute("unidirectional", 0)), 0, n.attribute("scale")))


@operator("MultiHeadAttention", domain=MICROSOFT)
def multi_head_attention(n: Node):
    if n.has(4) or n.has(6) or any(n.input(i).dim() != 3 for i in range(3)):
        raise Unsupported("MultiHeadAttention with padding, a past or packed values")
    parts = [n.input(i) for i in range(3)]
    if n.has(3):
        biases = n.input(3).split([x.shape[-1] for x in parts])
        parts = [x + bias for x, bias in zip(parts, biases)]
    q, k, v = (heads(x, n.attribute("num_heads")) for x in parts)
    return joined(attend(q, k, v, n.input(5), bool(n.attribute("unidirectional", 0)), 0, n.attribute("scale")))
