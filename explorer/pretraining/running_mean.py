"""A running mean of the weights of a run, weighted towards the latest.

While the learning rate is high the weights move about a valley of the loss, and their mean lies closer to its floor (Polyak &
Juditsky 1992; as an exponential mean in Tarvainen & Valpola 2017). It costs one more copy of the weights.
"""

from __future__ import annotations

from explorer.core.engine import no_grad, torch


class RunningMean:
    """The exponential mean of a model's parameters; a plain mean at first, so that the start is soon forgotten."""

    def __init__(self, model: torch.nn.Module, keep: float) -> None:
        self.keep = keep  # the share of the mean that is kept at each step, 0..1
        self.restart(model)

    def restart(self, model: torch.nn.Module) -> None:
        """Restart from the model's current weights."""
        self.steps = 0
        self.weights: dict[str, torch.Tensor] = {name: value.detach().clone() for name, value in model.named_parameters()}

    @no_grad
    def add(self, model: torch.nn.Module) -> None:
        """Add the weights after a step."""
        self.steps += 1
        share = max(1 - self.keep, 1 / self.steps)
        torch._foreach_lerp_(list(self.weights.values()), [value.detach() for value in model.parameters()], share)

    @no_grad
    def exchange(self, model: torch.nn.Module) -> None:
        """Swap the mean and the model's weights; a second call restores both."""
        for name, value in model.named_parameters():
            own = value.detach().clone()
            value.copy_(self.weights[name])
            self.weights[name].copy_(own)
