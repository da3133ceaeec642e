"""Networks, small, whose whole training steps are compared with PyTorch."""

from __future__ import annotations

from dataclasses import dataclass, field

FILE = "a file with weights in it"  # step_network.py
TINY = "layers=2,width=32,heads=4,ffn=64,vocabulary=50,tokens=8"


@dataclass(frozen=True)
class StepCase:
    name: str
    model: str  # a built-in network with its sizes, or FILE
    loss: str = "cross-entropy"
    class_axis: int = -1
    optimizer: str = "adam"
    options: dict[str, float] = field(default_factory=dict)  # of the optimizer, by PyTorch's names
    label_smoothing: float = 0.0
    forms: tuple[str, ...] = ()  # further arguments, which change how it is written, not what is computed
    deep: bool = False  # batch norms and kinks over so many layers that PyTorch's own gradients in float32 are 1 % off
    reference: str = "float64"  # what PyTorch computes in; its convolutions with many groups are very slow in float64

    def arguments(self) -> list[str]:
        """For `monet train`."""
        names = {"weight_decay": "--weight-decay", "momentum": "--momentum", "eps": "--epsilon", "clip": "--clip-norm"}
        result = ["--loss", self.loss, "--optimizer", self.optimizer]
        for key, value in self.options.items():
            result += [names[key], repr(value)]
        if self.label_smoothing:
            result += ["--label-smoothing", repr(self.label_smoothing)]
        return result + [*self.forms] + (["--class-axis", str(self.class_axis)] if self.class_axis != -1 else [])


CASES = [
    StepCase("file", FILE, optimizer="momentum"),
    StepCase("mlp-robotics", "mlp-robotics:batch=4,hidden=32"),
    StepCase("mlp-sgd", "mlp-robotics:batch=4,hidden=32", "mse", optimizer="sgd", options={"weight_decay": 0.1}),
    StepCase("mlp-momentum", "mlp-robotics:batch=4,hidden=32", "bce", optimizer="momentum", options={"momentum": 0.8}),
    StepCase("mlp-nesterov", "mlp-robotics:batch=4,hidden=32", "mse", optimizer="nesterov", options={"clip": 0.1}),
    StepCase("mlp-adamw", "mlp-robotics:batch=4,hidden=32", optimizer="adamw", options={"weight_decay": 0.1}),
    StepCase("mlp-smoothed", "mlp-robotics:batch=4,hidden=32", label_smoothing=0.1),
    StepCase("mlp-elementwise", "mlp-robotics:batch=4,hidden=32", forms=("--optimizer-form", "elementwise")),
    StepCase("resnet18", "resnet18:batch=4,image=32,classes=5", deep=True),
    StepCase("resnet50", "resnet50:batch=8,image=32,classes=5", optimizer="momentum", deep=True),
    StepCase("resnet18-cifar", "resnet18-cifar:batch=4,image=16", optimizer="sgd", deep=True),
    StepCase("resnet18-folded", "resnet18-cifar-folded:batch=2,image=16", optimizer="sgd"),
    StepCase("resnet18-im2col", "resnet18-cifar-folded:batch=2,image=16", optimizer="sgd",
             forms=("--conv-gradient", "im2col")),
    StepCase("mobilenet-v2", "mobilenet-v2:batch=8,image=32,classes=5", optimizer="momentum", deep=True,
             reference="float32"),
    StepCase("gpt2", f"gpt2:batch=2,{TINY}", optimizer="adamw"),
    StepCase("gpt2-untied", f"gpt2:batch=2,tied=0,{TINY}", options={"clip": 0.5}),
    StepCase("gpt2-flash", f"gpt2:batch=2,flash=1,{TINY}"),
    StepCase("gpt2like", f"gpt2like:batch=2,{TINY}"),
    StepCase("bert-base", f"bert-base:batch=2,positions=16,{TINY}"),
    StepCase("unet", "unet:batch=2,image=32,features=8,classes=5", class_axis=1, deep=True),
    StepCase("fsrcnn", "fsrcnn:batch=2,height=8,width=8,features=8,shrink=4,maps=2,upscale=2", "mse"),
]
