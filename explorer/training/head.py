"""A classifier head on frozen features: one layer or two, with Adam or as a logistic regression."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from explorer.training.examples import HELD_OUT_SHARE, Examples, Split

OPTIMIZERS = ("adam", "lbfgs")


@dataclass(frozen=True)
class Head:
    """Scores of every label for a pooled vector x: W x + b or, with a hidden layer, W relu(H x + c) + b."""

    weight: np.ndarray  # [labels, hidden or units] float32
    bias: np.ndarray  # [labels] float32
    hidden_weight: np.ndarray | None = None  # [units, hidden] float32
    hidden_bias: np.ndarray | None = None  # [units] float32

    def probabilities(self, vectors: np.ndarray) -> np.ndarray:
        """[texts, labels] for features [texts, hidden]; every row sums to 1."""
        if self.hidden_weight is not None:
            vectors = np.maximum(vectors @ self.hidden_weight.T + self.hidden_bias, 0)
        scores = vectors @ self.weight.T + self.bias
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        return shares / shares.sum(-1, keepdims=True)

    def scores(self, vectors: torch.Tensor) -> torch.Tensor:
        """[texts, labels] scores of features [texts, hidden], for gradients to flow through."""
        if self.hidden_weight is not None:
            hidden = functional.linear(vectors, torch.from_numpy(self.hidden_weight), torch.from_numpy(self.hidden_bias))
            vectors = hidden.relu()
        return functional.linear(vectors, torch.from_numpy(self.weight), torch.from_numpy(self.bias))


@dataclass(frozen=True)
class TrainingSettings:
    """How to train. The defaults of the first four are the tutorials'."""

    epochs: int = 10
    learning_rate: float = 0.01
    batch_size: int = 32
    seed: int = 0
    optimizer: str = "adam"  # or "lbfgs": logistic regression, solved at once
    units: int = 0  # of a hidden layer in the head; 0 is a linear head
    balanced: bool = False  # rare labels weigh more: number of examples / (number of labels · examples of the label)
    regularization: float = 1.0  # of "lbfgs": half the squared length of the weights times this is added to the loss
    held_out: float = HELD_OUT_SHARE  # of each label, about: never trained on
    patience: int = 0  # stop when the held-out loss has not fallen for so many epochs; 0 never


@dataclass(frozen=True)
class Epoch:
    """How it went after one pass over the examples; losses are mean cross-entropies in nats, the rest is 0 to 1."""

    epoch: int
    train_loss: float
    train_accuracy: float
    train_macro_f1: float
    held_out_loss: float
    held_out_accuracy: float
    held_out_macro_f1: float


@dataclass(frozen=True)
class Scale:
    """Features are centred, each coordinate varies alike, and the mean squared length is 1.

    Adam's steps have one size whatever the features are, and in every coordinate: so one learning rate suits every layer
    and pooling, of which the pooler's coordinates differ most.
    """

    mean: torch.Tensor  # [hidden]
    size: torch.Tensor  # [hidden]

    @classmethod
    def of(cls, vectors: torch.Tensor) -> "Scale":
        """The scale of vectors [n, hidden], those that are trained on."""
        deviation = vectors.std(0, correction=0)
        lowest = 1e-2 * deviation.mean().clamp_min(1e-4)  # a coordinate that hardly varies is noise: it stays small
        return cls(vectors.mean(0), deviation.clamp_min(lowest) * vectors.shape[1] ** 0.5)

    def apply(self, vectors: torch.Tensor) -> torch.Tensor:
        """The vectors, centred and scaled."""
        return (vectors - self.mean) / self.size

    def fold(self, weight: torch.Tensor, bias: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
        """Weight and bias of a layer that reads the vectors as they are, from those of one that reads them scaled."""
        weight = weight / self.size
        return weight.numpy().copy(), (bias - weight @ self.mean).numpy().copy()


def new_module(hidden: int, labels: int, settings: TrainingSettings, generator: torch.Generator) -> torch.nn.Sequential:
    """The layers of a head to train: a linear one starts at zero, one below another with small random weights."""
    layers: list[torch.nn.Module] = []
    if settings.units:
        below = torch.nn.Linear(hidden, settings.units)
        # The input has length 1: weights of this size give the units values around 1.
        torch.nn.init.normal_(below.weight, generator=generator)
        torch.nn.init.zeros_(below.bias)
        layers += [below, torch.nn.ReLU()]
    last = torch.nn.Linear(settings.units or hidden, labels)
    torch.nn.init.zeros_(last.weight)
    torch.nn.init.zeros_(last.bias)
    return torch.nn.Sequential(*layers, last)


@torch.no_grad()
def as_head(module: torch.nn.Sequential, scale: Scale) -> Head:
    """What was trained on scaled features, as a head that reads them as they are."""
    first, last = module[0], module[-1]
    if first is last:
        return Head(*scale.fold(last.weight, last.bias))
    return Head(last.weight.numpy().copy(), last.bias.numpy().copy(), *scale.fold(first.weight, first.bias))


def class_weights(targets: torch.Tensor, labels: int, balanced: bool) -> torch.Tensor | None:
    """[labels] weights under which every label counts the same, or None."""
    if not balanced:
        return None
    return len(targets) / (labels * torch.bincount(targets, minlength=labels).clamp_min(1).float())


def train(vectors: np.ndarray, examples: Examples, split: Split, settings: TrainingSettings) -> Iterator[tuple[Epoch, Head]]:
    """Train a head on features [examples, hidden], always alike; yields how it went and the head after every epoch."""
    targets = torch.from_numpy(examples.targets)
    inputs = torch.from_numpy(np.ascontiguousarray(vectors, dtype=np.float32))
    parts = torch.from_numpy(split.train), torch.from_numpy(split.held_out)
    scale = Scale.of(inputs[parts[0]])
    inputs = scale.apply(inputs)
    if settings.optimizer == "lbfgs":
        seen, labels = inputs[parts[0]].numpy(), examples.targets[split.train]
        weight, bias = map(torch.from_numpy, solve(seen, labels, len(examples.classes), settings))
        yield _measure(1, functional.linear(inputs, weight, bias), targets, parts), Head(*scale.fold(weight, bias))
        return
    patience = Patience(settings.patience)
    for epoch, module in enumerate(_adam(inputs, targets, parts[0], len(examples.classes), settings), start=1):
        with torch.inference_mode():
            report = _measure(epoch, module(inputs), targets, parts)
        yield report, as_head(module, scale)
        if patience.is_over(report.held_out_loss):
            return


def _adam(
    inputs: torch.Tensor, targets: torch.Tensor, rows: torch.Tensor, labels: int, settings: TrainingSettings
) -> Iterator[torch.nn.Sequential]:
    """The head after every epoch of Adam (Kingma & Ba 2015); it goes on to change."""
    generator = torch.Generator().manual_seed(settings.seed)
    module = new_module(inputs.shape[1], labels, settings, generator)
    optimizer = torch.optim.Adam(module.parameters(), lr=settings.learning_rate)
    weights = class_weights(targets[rows], labels, settings.balanced)
    for _ in range(settings.epochs):
        for batch in rows[torch.randperm(len(rows), generator=generator)].split(settings.batch_size):
            optimizer.zero_grad()
            functional.cross_entropy(module(inputs[batch]), targets[batch], weights).backward()
            optimizer.step()
        yield module


def solve(inputs: np.ndarray, targets: np.ndarray, labels: int, settings: TrainingSettings) -> tuple[np.ndarray, np.ndarray]:
    """Weight [labels, hidden] and bias [labels] of a multinomial logistic regression (L-BFGS) of targets [n] on inputs."""
    from sklearn.linear_model import LogisticRegression

    weight = np.zeros((labels, inputs.shape[1]), dtype=np.float32)
    bias = np.zeros(labels, dtype=np.float32)
    if len(np.unique(targets)) == 1:
        bias[targets[0]] = 1
        return weight, bias
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that 300 steps are not enough for the last digits
        balance = "balanced" if settings.balanced else None
        fitted = LogisticRegression(C=1 / settings.regularization, max_iter=300, class_weight=balance).fit(inputs, targets)
    if len(fitted.classes_) == 2:  # one score, of the second label: half of it to each gives the same probabilities
        fitted.coef_ = np.concatenate([-fitted.coef_, fitted.coef_]) / 2
        fitted.intercept_ = np.concatenate([-fitted.intercept_, fitted.intercept_]) / 2
    weight[fitted.classes_], bias[fitted.classes_] = fitted.coef_, fitted.intercept_
    return weight, bias


@dataclass
class Patience:
    """Early stopping: the held-out loss may fail to fall `epochs` times in a row; 0 is for ever."""

    epochs: int
    lowest: float = float("inf")
    waited: int = 0

    def is_over(self, loss: float) -> bool:
        """Whether to stop, after another epoch with this held-out loss."""
        self.waited = 0 if loss < self.lowest else self.waited + 1
        self.lowest = min(self.lowest, loss)
        return 0 < self.epochs <= self.waited


def _measure(epoch: int, scores: torch.Tensor, targets: torch.Tensor, parts: tuple[torch.Tensor, torch.Tensor]) -> Epoch:
    return Epoch(epoch, *(number for rows in parts for number in measure(scores[rows], targets[rows])))


def measure(scores: torch.Tensor, targets: torch.Tensor) -> tuple[float, float, float]:
    """Loss, accuracy and macro-F1 of scores [n, labels]."""
    from explorer.analysis.evaluation import confusion, macro_f1

    loss = functional.cross_entropy(scores, targets).item()
    table = confusion(targets.numpy(), scores.argmax(-1).numpy(), scores.shape[1])
    return loss, float(np.trace(table) / max(1, table.sum())), macro_f1(table)
