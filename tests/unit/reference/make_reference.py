"""Compute the reference values with PyTorch's own modules, and store them.

Run once, with ``pip install torch==2.13.0``; the tests read only the stored JSON:

    python tests/reference/make_reference.py

All in float64, inputs rounded to two decimals so that the file stays readable.
PyTorch keeps a weight as (out, in) and all heads in one matrix; the lab writes
``x @ W`` and one matrix a head, so every weight is stored in the lab's layout.
"""

import json
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

N, D, H, D_K, D_V, D_FF = 5, 6, 3, 2, 4, 10
torch.manual_seed(9)
torch.set_default_dtype(torch.float64)


def draw(*shape, mean=0.0, spread=1.0):
    return ((mean + spread * torch.randn(shape)) * 100).round() / 100


def per_head(weight):
    """(h * d_k, d), as PyTorch keeps it, to (h, d, d_k)."""
    return weight.reshape(H, -1, D).transpose(1, 2)


def layer_norm():
    X, gamma, beta = draw(2, N, D, mean=1.0, spread=3.0), draw(D), draw(D)
    out = {f"{eps}": F.layer_norm(X, (D,), gamma, beta, eps) for eps in (1e-5, 0.1)}
    return {"X": X, "gamma": gamma, "beta": beta, "by_eps": out}


def attention():
    """h heads of scaled_dot_product_attention, values wider than queries."""
    X, W_O = draw(2, N, D), draw(H * D_V, D)
    W_Q, W_K, W_V = draw(H, D, D_K), draw(H, D, D_K), draw(H, D, D_V)
    lower = torch.ones(N, N).tril().bool()
    batched = torch.stack([lower, torch.eye(N).bool() | lower.T])
    found = {"W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": W_O, "X": X}
    found["masks"] = {"none": None, "causal": lower, "batched": batched}
    found["heads"], found["out"] = {}, {}
    for name, mask in found["masks"].items():
        Q, K, V = (X[:, None] @ W for W in (W_Q, W_K, W_V))
        seen = mask if mask is None or mask.ndim == 2 else mask[:, None]
        heads = F.scaled_dot_product_attention(Q, K, V, attn_mask=seen)
        found["heads"][name] = heads
        found["out"][name] = heads.transpose(1, 2).reshape(2, N, H * D_V) @ W_O
    return found


def multi_head():
    X = draw(2, N, D)
    module = nn.MultiheadAttention(D, H, bias=False, batch_first=True)
    module.in_proj_weight.copy_(draw(3 * D, D))
    module.out_proj.weight.copy_(draw(D, D))
    names = ("W_Q", "W_K", "W_V")
    found = {"X": X, "W_O": module.out_proj.weight.T}
    for name, weight in zip(names, module.in_proj_weight.chunk(3), strict=True):
        found[name] = per_head(weight)
    unread = ~torch.ones(N, N).tril().bool()  # PyTorch marks what may NOT be read
    found["out"] = {"none": module(X, X, X)[0]}
    found["out"]["causal"] = module(X, X, X, attn_mask=unread)[0]
    return found


def block():
    X = draw(2, N, D)
    # Dropout 0 in training mode: the plain path through the modules, no fused kernel.
    layer = nn.TransformerEncoderLayer(
        D, H, D_FF, dropout=0.0, norm_first=True, batch_first=True
    )
    for name, parameter in layer.named_parameters():
        is_bias = name.endswith("bias") and not name.startswith("norm")
        shape = parameter.shape
        parameter.copy_(torch.zeros(shape) if is_bias else draw(*shape))
    W_Q, W_K, W_V = map(per_head, layer.self_attn.in_proj_weight.chunk(3))
    unread = ~torch.ones(N, N).tril().bool()
    return {
        "X": X,
        "attn": [W_Q, W_K, W_V, layer.self_attn.out_proj.weight.T],
        "ffn": [layer.linear1.weight.T, layer.linear2.weight.T],
        "ln_1": [layer.norm1.weight, layer.norm1.bias],
        "ln_2": [layer.norm2.weight, layer.norm2.bias],
        "out": {"none": layer(X), "causal": layer(X, src_mask=unread)},
    }


def stack():
    """Sizes, and slopes by automatic differentiation, row by row."""
    z, storeys = draw(3, D), draw(4, D, D, spread=0.3)
    rules = {
        "replace": lambda z, W: z @ W,
        "add": lambda z, W: z + z @ W,
        "post_norm": lambda z, W: F.layer_norm(z + z @ W, (D,)),
        "pre_norm": lambda z, W: z + F.layer_norm(z, (D,)) @ W,
    }
    found = {"z": z, "storeys": storeys, "sizes": {}, "slopes": {}}
    for rule, step in rules.items():
        streams = [z]
        for W in storeys:
            streams.append(step(streams[-1], W))
        found["sizes"][rule] = [s.square().mean().sqrt() for s in streams]
        slopes = []
        for start, stream in enumerate(streams[:-1]):

            def top(row, start=start, step=step):
                for W in storeys[start:]:
                    row = step(row, W)
                return row

            with torch.enable_grad():
                jacobians = [torch.autograd.functional.jacobian(top, r) for r in stream]
            squares = torch.stack(jacobians).square().sum(dim=(1, 2)) / D
            slopes.append(squares.mean().sqrt())
        found["slopes"][rule] = slopes
    return found


def plain(value):
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return value.tolist() if isinstance(value, torch.Tensor) else value


if __name__ == "__main__":
    with torch.no_grad():
        parts = (layer_norm, attention, multi_head, block, stack)
        found = {part.__name__: plain(part()) for part in parts}
    found["made_with"] = f"torch {torch.__version__}"
    path = Path(__file__).with_name("reference.json")
    path.write_text(json.dumps(found, separators=(",", ":")) + "\n")
    print(f"{path.name}: {path.stat().st_size} bytes, {found['made_with']}")
