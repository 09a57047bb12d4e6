"""The mean of the weights along a run, in which the late ones count most.

While the rate is high the weights jump about a valley of the loss, and their mean lies nearer its floor: averaging along the way
(Polyak & Juditsky 1992; as an exponential mean in Tarvainen & Valpola 2017). It costs one more copy of the weights.
"""

from __future__ import annotations

from explorer.base.engine import no_grad, torch


class RunningMean:
    """The exponential mean of a model's parameters; early on it is the plain mean, since the start should soon be forgotten."""

    def __init__(self, model: torch.nn.Module, keep: float) -> None:
        self.keep = keep  # of the mean at each step, 0..1
        self.restart(model)

    def restart(self, model: torch.nn.Module) -> None:
        """Begin with the weights as they are."""
        self.steps = 0
        self.weights: dict[str, torch.Tensor] = {name: value.detach().clone() for name, value in model.named_parameters()}

    @no_grad
    def add(self, model: torch.nn.Module) -> None:
        """Take in the weights after a step."""
        self.steps += 1
        share = max(1 - self.keep, 1 / self.steps)
        torch._foreach_lerp_(list(self.weights.values()), [value.detach() for value in model.parameters()], share)

    @no_grad
    def exchange(self, model: torch.nn.Module) -> None:
        """Swap the mean and the model's own weights; done twice, all is as before."""
        for name, value in model.named_parameters():
            own = value.detach().clone()
            value.copy_(self.weights[name])
            self.weights[name].copy_(own)
