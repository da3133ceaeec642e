"""Saved bytes of networks from torchvision and timm, against what PyTorch's autograd really keeps.

    python tests/training/saved_bytes_against_torch.py build/monet FOLDER NAME...

Needs torch, torchvision and, for names like timm:mixer_b16_224, timm. Each network is exported in training mode to
FOLDER and run on the CPU with batch 4; storage that autograd saves, other than parameters, buffers and the batch, is
summed. Dropout is off and activations are not in place, as a file cannot say either.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import torch
import torch.nn.functional as F

BATCH = 4


def network(name: str) -> torch.nn.Module:
    if name.startswith("timm:"):
        import timm

        model = timm.create_model(name.removeprefix("timm:"), pretrained=False)
    else:
        import torchvision

        options = {"aux_logits": False} if name in ("googlenet", "inception_v3") else {}
        model = getattr(torchvision.models, name)(weights=None, **options)
    for module in model.modules():
        for switch in ("p", "drop_prob"):
            if isinstance(getattr(module, switch, None), float):
                setattr(module, switch, 0.0)
        if hasattr(module, "inplace"):
            module.inplace = False
    return model.train()


def kept_by_torch(model: torch.nn.Module, images: torch.Tensor) -> int:
    always = {tensor.untyped_storage().data_ptr() for tensor in (*model.parameters(), *model.buffers(), images)}
    kept = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor  # alive, so that no storage is used twice
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        scores = model(images)
        target = torch.zeros(len(images), dtype=torch.long)
        loss = F.cross_entropy(scores, target)
    always.add(target.untyped_storage().data_ptr())
    assert loss.requires_grad
    return sum(tensor.untyped_storage().nbytes() for place, tensor in kept.items() if place not in always)


def main(monet: str, folder: str, *names: str) -> None:
    for name in names:
        model = network(name)
        size = 299 if name == "inception_v3" else 224
        images = torch.randn(BATCH, 3, size, size)
        path = Path(folder) / f"{name.replace(':', '_')}.onnx"
        torch.onnx.export(model, (images,), path, dynamo=False, opset_version=17, do_constant_folding=False,
                          training=torch.onnx.TrainingMode.TRAINING)
        answer = subprocess.run([monet, "train", path, "--json", "-q"], capture_output=True, text=True, check=True)
        ours, theirs = json.loads(answer.stdout)["saved_bytes"], kept_by_torch(model, images)
        print(f"{name:24} PyTorch {theirs:12} MONET {ours:12} {100 * (ours - theirs) / theirs:+.3f} %", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
