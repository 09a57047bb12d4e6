"""Training the top layers too: on a copy, over the hidden states that the frozen layers below gave once."""

import copy
import time
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter

import torch
from torch.nn import functional

from explorer.model import Explorer
from explorer.training.examples import Examples, split
from explorer.training.head import (
    Epoch,
    Head,
    Patience,
    Scale,
    Settings,
    as_head,
    class_weights,
    measure,
    new_module,
)
from explorer.training.prefix import Ragged, pooled, precision, through

HEAD_RATE = 0.01  # the least that the head learns with: it starts from nothing, the layers from BERT
WARM_UP = 0.1  # of all steps
WEIGHT_DECAY = 0.01
MOST_GRADIENT = 1.0
EVALUATION_BATCH = 64


def most_layer_rate(hidden: int) -> float:
    """The highest rate at which layers of this width are trained: the paper's 5e-5 for BERT-base, more for small models.

    Devlin et al. 2019 train 768 and 1024 numbers wide models at 2e-5 to 5e-5, Turc et al. 2019 small ones at up to 3e-4.
    """
    return min(3e-4, 5e-5 * (768 / hidden) ** 2)


class SeededDropout(torch.nn.Module):
    """Dropout with a generator of its own: two trainings at once do not take each other's random numbers."""

    def __init__(self, p: float, generator: torch.Generator) -> None:
        super().__init__()
        self.p, self.generator = p, generator

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Hidden states with a share `p` of the numbers set to 0 and the rest scaled up; unchanged in evaluation."""
        if not self.training or not self.p:
            return hidden
        kept = torch.empty_like(hidden).bernoulli_(1 - self.p, generator=self.generator)
        return hidden * kept / (1 - self.p)


class Top(torch.nn.Module):
    """A copy of the last layers below a head, and of the pooler when the head reads it."""

    def __init__(self, model: Explorer, layer: int, layers_trained: int, pooling: str) -> None:
        super().__init__()
        self.pooling = pooling
        self.layers = torch.nn.ModuleList(copy.deepcopy(list(model.layers[layer - layers_trained : layer])))
        reads_pooler = pooling == "pooler"
        self.pooler = copy.deepcopy(attrgetter(model.family.pooler)(model.encoder)) if reads_pooler else None
        self._attention = model.family.self_attention

    def forward(self, hidden: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        """[batch, hidden] pooled vectors from the hidden states [batch, tokens, hidden] below the copied layers."""
        hidden = through(self.layers, hidden, real)
        return pooled(hidden, real, self.pooling) if self.pooler is None else self.pooler(hidden)

    def start_training(self, generator: torch.Generator) -> "Top":
        """Let the weights change, with dropout from `generator`.

        Dropout of attention weights is off: PyTorch's fast attention takes its random numbers from everybody's generator.
        """
        self.requires_grad_(True).train()
        for layer in self.layers:
            attention = attrgetter(self._attention)(layer)
            for parent in layer.modules():
                for name, child in parent.named_children():
                    if isinstance(child, torch.nn.Dropout):
                        share = 0.0 if parent is attention else child.p
                        setattr(parent, name, SeededDropout(share, generator))
        return self

    def snapshot(self) -> "Top":
        """A copy for use: it does not change any more."""
        taken = copy.copy(self)
        taken._modules = copy.deepcopy(self._modules, {id(g): g for g in self._generators()})
        return taken.eval().requires_grad_(False)

    def _generators(self) -> list[torch.Generator]:
        return [module.generator for module in self.modules() if isinstance(module, SeededDropout)]


@dataclass(frozen=True)
class Step:
    """How far an epoch is."""

    epoch: int
    done: int
    total: int
    loss: float
    seconds_left: float  # until all epochs are done, at the speed so far
    steps_per_second: float


Report = Step | tuple[Epoch, Head, Top]


def train_top(
    model: Explorer,
    states: Ragged,
    examples: Examples,
    *,
    layer: int,
    layers_trained: int,
    pooling: str,
    settings: Settings,
) -> Iterator[Report]:
    """Train a head and the `layers_trained` layers up to `layer` (an index of hidden states) over the states below.

    AdamW with linear warm-up and decay (Devlin et al. 2019, appendix A.2). The layers learn at the learning rate, but
    at most at `most_layer_rate`, the head at HEAD_RATE at least. Yields a Step after each batch, and after each epoch how
    it went with the head and the layers as they are then; numbers of the training part are means over the epoch.
    """
    generator = torch.Generator().manual_seed(settings.seed)
    targets = torch.from_numpy(examples.targets)
    train_rows, held_rows = (torch.from_numpy(rows) for rows in split(examples, settings.seed))
    top = Top(model, layer, layers_trained, pooling).eval()
    scale = Scale.of(evaluate(top, states, train_rows))
    top.start_training(generator)
    head = new_module(states.flat.shape[1], len(examples.classes), settings, generator)
    weights = class_weights(targets[train_rows], len(examples.classes), settings.balanced)
    steps = -(-len(train_rows) // settings.batch_size)
    optimizer, schedule = _optimizer(top, head, settings, steps * settings.epochs)
    patience, start = Patience(settings.patience), time.perf_counter()
    for epoch in range(1, settings.epochs + 1):
        shuffled = train_rows[torch.randperm(len(train_rows), generator=generator)]
        scores = []
        for done, batch in enumerate(shuffled.split(settings.batch_size), start=1):
            with precision():
                vectors = top(*states.batch(batch))
            scores.append(head(scale.apply(vectors.float())))
            loss = functional.cross_entropy(scores[-1], targets[batch], weights)
            _learn(loss, optimizer, schedule, top)
            scores[-1] = scores[-1].detach()
            so_far = steps * (epoch - 1) + done
            speed = so_far / (time.perf_counter() - start)
            yield Step(epoch, done, steps, loss.item(), (steps * settings.epochs - so_far) / speed, speed)
        taken = top.snapshot()
        report = _report(epoch, torch.cat(scores), targets[shuffled], taken, head, scale, states, targets, held_rows)
        yield report, as_head(head, scale), taken
        if patience.is_over(report.held_out_loss):
            return


def _optimizer(
    top: Top, head: torch.nn.Module, settings: Settings, steps: int
) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
    matrices = [weight for weight in top.parameters() if weight.ndim > 1]
    vectors = [weight for weight in top.parameters() if weight.ndim == 1]  # biases and LayerNorm: no decay
    rate = min(settings.learning_rate, most_layer_rate(head[0].in_features))
    groups = [
        {"params": matrices, "lr": rate, "weight_decay": WEIGHT_DECAY},
        {"params": vectors, "lr": rate, "weight_decay": 0.0},
        {"params": list(head.parameters()), "lr": max(settings.learning_rate, HEAD_RATE), "weight_decay": 0.0},
    ]
    warm_up = max(1, round(WARM_UP * steps))

    def share(step: int) -> float:
        return min((step + 1) / warm_up, (steps - step) / max(1, steps - warm_up))

    optimizer = torch.optim.AdamW(groups, fused=True)
    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, share)


def _learn(
    loss: torch.Tensor, optimizer: torch.optim.Optimizer, schedule: torch.optim.lr_scheduler.LRScheduler, top: Top
) -> None:
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(top.parameters(), MOST_GRADIENT)
    optimizer.step()
    schedule.step()


@torch.no_grad()
def evaluate(top: Top, states: Ragged, rows: torch.Tensor) -> torch.Tensor:
    """[rows, hidden] float32: the pooled vectors of the texts `rows`, in their order."""
    order = torch.argsort(states.lengths[rows], stable=True)
    vectors = torch.empty(len(rows), states.flat.shape[1])
    for part in order.split(EVALUATION_BATCH):
        with precision():
            vectors[part] = top(*states.batch(rows[part])).float()
    return vectors


@torch.no_grad()
def _report(
    epoch: int,
    scores: torch.Tensor,
    right: torch.Tensor,
    top: Top,
    head: torch.nn.Module,
    scale: Scale,
    states: Ragged,
    targets: torch.Tensor,
    held_rows: torch.Tensor,
) -> Epoch:
    held = head(scale.apply(evaluate(top, states, held_rows)))
    return Epoch(epoch, *measure(scores, right), *measure(held, targets[held_rows]))
