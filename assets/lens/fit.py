"""Fit the tuned lens that lies beside this file: `python -m assets.lens.fit`, a few minutes on two cores.

A map begins as the ridge regression from its hidden state to the last one, which is kept near the identity and has a closed form.
From there it learns to make the masked-LM head say what the model says in the end: it minimizes KL(last ‖ lens), Belrose et al.
2023, section 3. The texts are four in five sentences of the built-in corpus; every fifth is held out, and the
reported divergences are those on these.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tqdm import tqdm

from explorer.bert.checkpoints import BUNDLED
from explorer.bert.explorer import Explorer, load
from explorer.bert.features import encode
from explorer.bert.network import Network
from explorer.bert.provenance import provenance_of
from explorer.techniques.lens import ABOUT, BIAS, FILE, RAW, TUNED, WEIGHT, TunedLens
from explorer.techniques.targets import AT_ONCE
from explorer.text.corpora import built_in

EVERY = 5  # of the corpus, one sentence in five is held out
HIDDEN = 0.15  # of the pieces, as in pre-training
TOKENS = 256  # in a step
STEPS = 240
RATE = 1e-3
RIDGE = 3e-3  # of the mean square of a hidden state's numbers
WARM_UP = 20  # steps
READ_AT_ONCE = 64  # inputs


@dataclass(frozen=True, eq=False)
class Read:
    """All tokens of some inputs: their `states` [states, tokens, hidden], and which are `blanks` [tokens] bool."""

    states: torch.Tensor
    blanks: torch.Tensor


def texts() -> tuple[list[str], list[str]]:
    """The sentences to fit on, and those held out; none is in both."""
    every = built_in().texts
    held_out = every[::EVERY]
    return [text for text in every if text not in set(held_out)], held_out


def read(model: Explorer, sentences: Sequence[str], seed: int = 0) -> Read:
    """Every sentence as it is, with one piece hidden, and with 15% of its pieces hidden, as in pre-training."""
    rng, rows = random.Random(seed), []
    for ids, segments in encode(model, sentences):
        places = range(1, len(ids) - 1)
        for count in (0, 1, max(1, round(HIDDEN * len(places)))):
            hidden = set(rng.sample(places, min(count, len(places))))
            rows.append((tuple(model.mask_id if place in hidden else id for place, id in enumerate(ids)), segments))
    return _states(model, sorted(rows, key=lambda row: len(row[0])))


@torch.inference_mode()
def _states(model: Network, rows: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]) -> Read:
    states, blanks = [], []
    for start in range(0, len(rows), READ_AT_ONCE):
        padded = model.pad(rows[start : start + READ_AT_ONCE])
        states.append(torch.stack([hidden[padded.real] for hidden in model.run_padded(padded)]))
        blanks.append((padded.ids == model.mask_id)[padded.real])
    return Read(torch.cat(states, 1), torch.cat(blanks))


def fit(model: Network, states: torch.Tensor, steps: int = STEPS, seed: int = 0) -> TunedLens:
    """The lens fitted on hidden states [states, tokens, hidden]; shows its progress."""
    states = states.clone()  # states made without gradients cannot be learned from
    begun = nearest_maps(states)
    lens = TunedLens(begun.weight.requires_grad_(), begun.bias.requires_grad_())
    optimizer = torch.optim.Adam([lens.weight, lens.bias], lr=RATE)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, partial(_rate, steps))
    bar = tqdm(islice(_batches(states.shape[1], seed), steps), "fitting", steps, disable=None)
    for tokens in bar:
        bar.set_postfix_str(f"mean KL {_learn(model, lens, states[:, tokens]):.3f} nats", refresh=False)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    return TunedLens(lens.weight.detach(), lens.bias.detach())


def nearest_maps(states: torch.Tensor) -> TunedLens:
    """The maps of every hidden state to the last one, [states, tokens, hidden], by ridge regression of what is missing there.

    It is the change that is regressed, so that the penalty keeps the map near the identity, not near zero.
    """
    given, missing = states[:-1], states[-1] - states[:-1]
    middle, mean = given.mean(1, keepdim=True), missing.mean(1, keepdim=True)
    centred = given - middle
    squares = centred.mT @ centred  # [states - 1, hidden, hidden]
    penalty = RIDGE * squares.diagonal(dim1=1, dim2=2).mean(1)[:, None, None] * torch.eye(states.shape[2])
    weight = torch.linalg.solve(squares + penalty, centred.mT @ (missing - mean)).mT.contiguous()
    return TunedLens(weight, (mean - middle @ weight.mT)[:, 0])


def _rate(steps: int, step: int) -> float:
    """The share of the learning rate at a step: a short warm-up, then a straight line down."""
    return min(1.0, (step + 1) / WARM_UP) * max(0.02, 1 - step / steps)


def _batches(tokens: int, seed: int) -> Iterator[torch.Tensor]:
    """All tokens in random order, over and over, TOKENS at a time."""
    dice = torch.Generator().manual_seed(seed)
    while True:
        yield from torch.randperm(tokens, generator=dice).split(TOKENS)


def _learn(model: Network, lens: TunedLens, states: torch.Tensor) -> float:
    """Add the gradients of some tokens; returns their mean divergence."""
    total, count = 0.0, len(states) - 1
    for divergence in islice(each_divergence(model, lens, states), count):
        loss = divergence.mean()
        loss.backward()
        total += float(loss.detach())
    return total / count


@torch.inference_mode()
def divergences(model: Network, lens: TunedLens | None, states: torch.Tensor) -> torch.Tensor:
    """`each_divergence` of hidden states [states, tokens, hidden]: [states, tokens]."""
    return torch.stack([*each_divergence(model, lens, states)])


def each_divergence(model: Network, lens: TunedLens | None, states: torch.Tensor) -> Iterator[torch.Tensor]:
    """The divergence KL(last ‖ lens), in nats, of what the lens says from what the model says in the end: [tokens] per state.

    `states` are hidden states [states, tokens, hidden], one read at a time, because the vocabulary is large; without a lens raw.
    """
    with torch.no_grad():
        last = model.masked_lm(states[-1]).log_softmax(-1)  # [tokens, vocabulary]
        shares = last.exp()
    for state, vectors in enumerate(states):
        said = model.masked_lm(lens.read(state, vectors) if lens else vectors).log_softmax(-1)
        yield (shares * (last - said)).sum(-1)


def means(model: Network, lens: TunedLens | None, read: Read) -> tuple[list[float], list[float]]:
    """The mean divergence, in nats, of every hidden state but the last: at all tokens, and at blanks."""
    parts = [divergences(model, lens, part) for part in read.states.split(AT_ONCE, dim=1)]
    found = torch.cat(parts, 1)[:-1]
    return found.mean(1).tolist(), found[:, read.blanks].mean(1).tolist()


def write(path: Path, lens: TunedLens) -> None:
    """Write a lens in half precision: whole maps for six states of 384 numbers are 1.8 MB."""
    save_file({WEIGHT: lens.weight.half(), BIAS: lens.bias.half()}, path, {ABOUT: json.dumps(lens.about)})


def main() -> None:
    model, (fitted, held_out) = load(BUNDLED), texts()
    given, test = read(model, fitted), read(model, held_out, seed=1)
    lens = fit(model, given.states)
    rounded = TunedLens(lens.weight.half().float(), lens.bias.half().float())
    about: dict[str, Any] = {"fitted": len(fitted), "held_out": len(held_out), **provenance_of(model)}
    for name, one in ((RAW, None), (TUNED, rounded)):
        about[name], about[f"{name}_at_blanks"] = ([round(mean, 4) for mean in found] for found in means(model, one, test))
        print(f"{name}, mean KL held out, by hidden state: {about[name]}; at blanks: {about[f'{name}_at_blanks']}")
    FILE.parent.mkdir(exist_ok=True)
    write(FILE, replace(rounded, about=about))


if __name__ == "__main__":
    main()
