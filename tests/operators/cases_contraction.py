"""Products: MatMul, Gemm, Einsum, attention."""

import numpy as np

from case import INT32, case


def normal(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


MATMUL_SHAPES = [
    ((3, 4), (4, 5)), ((1, 1), (1, 1)), ((4,), (4,)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (2, 4, 5)),
    ((2, 3, 4), (4,)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((2, 3, 4), (1, 4, 5)), ((3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (1, 6, 4, 5)), ((2, 2, 3, 4), (2, 4, 5)), ((2, 1, 2, 1, 3, 4), (3, 1, 2, 4, 5)),
]


def matmul(rng):
    for i, (a, b) in enumerate(MATMUL_SHAPES):
        yield case(f"MatMul_{i}", "MatMul", {"a": normal(rng, *a), "b": normal(rng, *b)}, opset=13)
    for opset in (7, 9, 13):
        yield case(f"MatMul_opset_{opset}", "MatMul", {"a": normal(rng, 2, 3, 4), "b": normal(rng, 4, 5)}, opset=opset)
    yield case("MatMul_int32", "MatMul", {"a": rng.integers(-9, 9, (3, 4)).astype(np.int32),
                                          "b": rng.integers(-9, 9, (4, 5)).astype(np.int32)})
    for trans_a in (0, 1):
        for trans_b in (0, 1):
            for alpha in (1.0, 0.25):
                a = normal(rng, 2, *((4, 3) if trans_a else (3, 4)))
                b = normal(rng, *((5, 4) if trans_b else (4, 5)))
                yield case(f"FusedMatMul_{trans_a}{trans_b}_{alpha}", "FusedMatMul", {"a": a, "b": b},
                           domain="com.microsoft", transA=trans_a, transB=trans_b, alpha=alpha)


def matmul_integer(rng):
    for name, a, b in (("uint8", np.uint8, np.uint8), ("mixed", np.uint8, np.int8)):
        low = 0 if b is np.uint8 else -50
        x = rng.integers(0, 200, (3, 4)).astype(a)
        y = rng.integers(low, 100, (4, 5)).astype(b)
        yield case(f"MatMulInteger_{name}", "MatMulInteger", {"a": x, "b": y}, output_types=[INT32])
        yield case(f"MatMulInteger_{name}_zero", "MatMulInteger",
                   {"a": x, "b": y, "az": np.array(12, a), "bz": np.array(3, b)}, output_types=[INT32])
        yield case(f"MatMulInteger_{name}_column_zero", "MatMulInteger",
                   {"a": x, "b": y, "az": np.array(12, a), "bz": np.arange(5).astype(b)}, output_types=[INT32])


def gemm(rng):
    for trans_a in (0, 1):
        for trans_b in (0, 1):
            for alpha in (None, 0.5):
                for beta in (None, 2.0, 0.0):
                    a = normal(rng, *((4, 3) if trans_a else (3, 4)))
                    b = normal(rng, *((5, 4) if trans_b else (4, 5)))
                    yield case(f"Gemm_{trans_a}{trans_b}_{alpha}_{beta}", "Gemm",
                               {"a": a, "b": b, "c": normal(rng, 3, 5)}, opset=13, transA=trans_a, transB=trans_b,
                               alpha=alpha, beta=beta)
    for c in ((5,), (1, 5), (3, 1), (1,), (), (3, 5)):
        yield case(f"Gemm_bias_{'x'.join(map(str, c)) or 'scalar'}", "Gemm",
                   {"a": normal(rng, 3, 4), "b": normal(rng, 4, 5), "c": np.asarray(normal(rng, *c), np.float32)})
    yield case("Gemm_without_bias", "Gemm", {"a": normal(rng, 3, 4), "b": normal(rng, 4, 5)}, opset=11, alpha=0.3)
    for opset in (7, 9):
        yield case(f"Gemm_opset_{opset}", "Gemm",
                   {"a": normal(rng, 3, 4), "b": normal(rng, 4, 5), "c": normal(rng, 5)}, opset=opset)


EINSUMS = [
    ("ij,jk->ik", (3, 4), (4, 5)), ("ij , jk", (3, 4), (4, 5)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 5)), ("...ij,...jk", (2, 3, 4), (1, 4, 5)),
    ("...ij,jk->...ik", (2, 6, 3, 4), (4, 5)), ("bhid,bhjd->bhij", (2, 3, 4, 5), (2, 3, 6, 5)),
    ("bshd,bthd->bhst", (2, 4, 3, 5), (2, 6, 3, 5)), ("i,j->ij", (3,), (4,)), ("i,i->", (5,), (5,)),
    ("i,i", (5,), (5,)), ("ij->ji", (3, 4)), ("ij->i", (3, 4)), ("ij->", (3, 4)), ("ba", (3, 4)),
    ("IJ,JK->KI", (3, 4), (4, 5)), ("aB,Bc->ac", (3, 4), (4, 5)), ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
    ("bn,anm,bm->ba", (2, 3), (4, 3, 5), (2, 5)), ("abc,cd->abd", (2, 3, 4), (4, 5)),
    ("abcd,cde->abe", (2, 3, 4, 5), (4, 5, 6)), ("...i->...", (2, 3, 4)), ("...,...->...", (2, 3), (1, 3)),
    ("ij,ij->ij", (3, 4), (3, 4)), ("ij,ij->i", (3, 4), (3, 4)), ("bij->bji", (2, 3, 4)),
    ("a...,...->a...", (3, 4), (4,)), ("bqhd,bkhd,bhqk->bqk", (1, 3, 2, 4), (1, 5, 2, 4), (1, 2, 3, 5)),
]


def einsum(rng):
    for i, (equation, *shapes) in enumerate(EINSUMS):
        inputs = {f"x{j}": normal(rng, *shape) for j, shape in enumerate(shapes)}
        yield case(f"Einsum_{i}", "Einsum", inputs, opset=12, equation=equation)


def attention_four_axes(rng):
    def qkv(batch=2, heads=4, groups=4, queries=3, keys=5, channels=6, values=7):
        return {"q": normal(rng, batch, heads, queries, channels), "k": normal(rng, batch, groups, keys, channels),
                "v": normal(rng, batch, groups, keys, values)}

    yield case("Attention", "Attention", qkv(), opset=23)
    yield case("Attention_24", "Attention", qkv(), opset=24)
    yield case("Attention_scale", "Attention", qkv(), opset=23, scale=0.3)
    yield case("Attention_softcap", "Attention", qkv(), opset=23, softcap=1.5)
    yield case("Attention_causal", "Attention", qkv(queries=5), opset=23, is_causal=1)
    yield case("Attention_causal_wide", "Attention", qkv(queries=3, keys=5), opset=23, is_causal=1)
    for groups in (1, 2):
        yield case(f"Attention_groups_{groups}", "Attention", qkv(groups=groups), opset=23)
    for shape in ((3, 5), (1, 1, 3, 5), (2, 1, 3, 5), (2, 4, 3, 5)):
        name = "x".join(map(str, shape))
        yield case(f"Attention_mask_{name}", "Attention", qkv() | {"m": normal(rng, *shape)}, opset=23)
        allowed = rng.integers(0, 2, shape).astype(bool)
        allowed[..., 0] = True
        yield case(f"Attention_bool_mask_{name}", "Attention", qkv() | {"m": allowed}, opset=23)
    yield case("Attention_mask_causal", "Attention", qkv(queries=5) | {"m": normal(rng, 5, 5)}, opset=23, is_causal=1)
    past = {"none": None, "pk": normal(rng, 2, 4, 2, 6), "pv": normal(rng, 2, 4, 2, 7)}
    for causal in (0, 1):
        yield case(f"Attention_past_{causal}", "Attention", qkv(queries=5) | past, ["y", "k2", "v2"], opset=23,
                   is_causal=causal)
    for mask in (normal(rng, 5, 7), np.tril(np.ones((5, 7), bool), 3)):
        yield case(f"Attention_past_mask_{mask.dtype}", "Attention",
                   qkv(queries=5) | {"m": mask, "pk": past["pk"], "pv": past["pv"]}, ["y", "k2", "v2"], opset=23,
                   is_causal=1)


def attention_three_axes(rng):
    inputs = {"q": normal(rng, 2, 3, 8), "k": normal(rng, 2, 5, 8), "v": normal(rng, 2, 5, 12)}
    yield case("Attention_3d", "Attention", inputs, opset=23, q_num_heads=4, kv_num_heads=4)
    grouped = {"q": normal(rng, 2, 3, 8), "k": normal(rng, 2, 5, 4), "v": normal(rng, 2, 5, 6)}
    yield case("Attention_3d_groups", "Attention", grouped, opset=23, q_num_heads=4, kv_num_heads=2)
    masked = inputs | {"m": normal(rng, 3, 5)}
    yield case("Attention_3d_mask", "Attention", masked, opset=23, q_num_heads=4, kv_num_heads=4, scale=0.7)
    past = {"none": None, "pk": normal(rng, 2, 4, 2, 2), "pv": normal(rng, 2, 4, 2, 3)}
    yield case("Attention_3d_past", "Attention", inputs | past, ["y", "k2", "v2"], opset=23, q_num_heads=4,
               kv_num_heads=4)


def microsoft_attention(rng):
    inputs = {"q": normal(rng, 2, 3, 8), "k": normal(rng, 2, 5, 8), "v": normal(rng, 2, 5, 8)}
    options = {"domain": "com.microsoft", "num_heads": 4}
    yield case("MultiHeadAttention", "MultiHeadAttention", inputs, **options)
    yield case("MultiHeadAttention_scale", "MultiHeadAttention", inputs, scale=0.4, **options)
    yield case("MultiHeadAttention_bias", "MultiHeadAttention", inputs | {"b": normal(rng, 24)}, **options)
    yield case("MultiHeadAttention_attention_bias", "MultiHeadAttention",
               inputs | {"b": None, "p": None, "m": normal(rng, 2, 4, 3, 5)}, **options)
    same = {key: normal(rng, 2, 3, 8) for key in "qkv"}
    yield case("MultiHeadAttention_causal", "MultiHeadAttention", same, unidirectional=1, **options)
    packed = {"x": normal(rng, 2, 3, 6), "w": normal(rng, 6, 24), "b": normal(rng, 24)}
    for unidirectional in (0, 1):
        yield case(f"AttentionPacked_{unidirectional}", "Attention", packed, unidirectional=unidirectional, **options)


def cases():
    rng = np.random.default_rng(12)
    for part in (matmul, matmul_integer, gemm, einsum, attention_four_axes, attention_three_axes, microsoft_attention):
        yield from part(rng)
