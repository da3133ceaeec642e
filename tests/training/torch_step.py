"""The same steps by PyTorch: its functions for the forward part, autograd, losses and optimizers, in float64."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from onnx_step import Ran
from step_cases import StepCase
from step_files import LEARNING_RATE, StepFiles, Tensors
from torch_runner import run
from torch_runner.runner import as_tensor

STATE_NAMES = {"exp_avg": "m", "exp_avg_sq": "v", "momentum_buffer": "momentum"}


def loss_of(case: StepCase, scores: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    if case.loss == "mse":
        return F.mse_loss(scores, target)
    if case.loss == "bce":
        return F.binary_cross_entropy_with_logits(scores, target)
    assert case.loss == "cross-entropy"
    scores = scores.movedim(case.class_axis, -1)
    return F.cross_entropy(scores.reshape(-1, scores.shape[-1]), target.reshape(-1),
                           label_smoothing=case.label_smoothing)


def optimizer_of(case: StepCase, parameters: list[torch.Tensor]) -> torch.optim.Optimizer:
    options = {key: value for key, value in case.options.items() if key != "clip"}
    options["lr"] = float(LEARNING_RATE)
    if case.optimizer in ("momentum", "nesterov"):
        options = {"momentum": 0.9, "nesterov": case.optimizer == "nesterov"} | options
    kinds = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
    return kinds.get(case.optimizer, torch.optim.SGD)(parameters, **options)


def resume(optimizer: torch.optim.Optimizer, trained: dict[str, torch.Tensor], kept: Tensors, number: int) -> None:
    """Puts the optimizer where it was before step `number`, the first being 1."""
    if number == 1:
        return
    for name, p in trained.items():
        states = {key: torch.from_numpy(kept[f"{name}.{ours}"]).to(p.dtype) for key, ours in STATE_NAMES.items()
                  if f"{name}.{ours}" in kept}
        optimizer.state[p] = states | {"step": torch.tensor(float(number - 1))}


class Follower:
    """Lets autograd go on from the values that another runtime computed at each node, rounded as they are there.

    Every node is then compared by itself. Otherwise a unit at the kink of a ReLU, which rounding puts on one side here
    and on the other there, would change the gradients of a whole deep network.
    """

    def __init__(self, values: Tensors):
        self.values = values
        self.compared: Tensors = {}

    def __call__(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        if name not in self.values:
            return tensor
        self.compared[name] = tensor.detach().clone().numpy()
        value = as_tensor(self.values[name], tensor.dtype)
        if not tensor.is_floating_point():
            return value
        return tensor + torch.where(value == tensor, 0, value - tensor).detach()  # both may be infinite


def torch_step(files: StepFiles, number: int, kept: Tensors, ran: Ran | None = None) -> Tensors:
    """The outputs of step `number` by name, from what is kept before it, and with `ran` every tensor in between.

    With `ran` every part starts from what was computed there: the nodes from their inputs, the optimizer from the
    gradients. Where one of these is 0 but for rounding (the bias of attention's keys), an optimizer that divides by its
    size would make anything of it.
    """
    dtype = getattr(torch, files.case.reference)
    values = {name: as_tensor(value, dtype) for name, value in (kept | files.batch(number)).items()}
    follower = Follower(ran.inside if ran else {})
    trained = {name: values[name].requires_grad_() for name in files.trained}
    optimizer = optimizer_of(files.case, list(trained.values()))
    resume(optimizer, trained, kept, number)
    outputs = run(files.forward, values, dtype, follower)
    loss = loss_of(files.case, outputs[files.outputs[0]], values["target"])
    loss.backward()
    results = outputs | {"loss": loss} | {f"{name}.grad": p.grad.clone() for name, p in trained.items()}
    for name, p in trained.items():
        p.grad = as_tensor(ran.results[f"{name}.grad"], dtype) if ran else p.grad
    if "clip" in files.case.options:
        torch.nn.utils.clip_grad_norm_(list(trained.values()), files.case.options["clip"])
    optimizer.step()
    for name, p in trained.items():
        results[f"{name}.new"] = p
        for key, ours in STATE_NAMES.items():
            if key in optimizer.state[p]:
                results[f"{name}.{ours}.new"] = optimizer.state[p][key]
    return {name: value.detach().numpy() for name, value in results.items()} | follower.compared
