"""BERT's pre-training task, played once on one text: mask pieces, predict them, judge whether B follows, compute the loss."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.network import MaskGuesses, Network
from explorer.core.engine import inference_mode, torch
from explorer.core.errors import InputError
from explorer.text.encoding import Encoding

PIECES, WORDS = "pieces", "words"


@dataclass(frozen=True)
class Rules:
    """How pieces are chosen and treated; the defaults are those of Devlin et al. 2019, section 3.1."""

    strategy: str = PIECES
    rate: float = 0.15
    masked: float = 0.8
    random: float = 0.1
    seed: int = 0


@dataclass(frozen=True)
class Round:
    """One input with pieces masked, and the model's predictions; arrays are [chosen], in order of position.

    `losses` are -ln of the probability of the original pieces, `mlm_loss` is their mean; `next_loss` is -ln of the probability of
    the true class, None without a B or without a next-sentence head.
    """

    encoding: Encoding
    masked: MaskedPieces
    positions: tuple[int, ...]
    guesses: tuple[MaskGuesses, ...]
    losses: np.ndarray
    stand_ins: tuple[str, ...]  # the pieces that the model read at the chosen positions
    next_label: int | None  # 0: B follows A, 1: it comes from elsewhere, None: there is no B
    is_next: float | None
    next_loss: float | None

    @property
    def pieces(self) -> list[str]:
        """The original pieces at the chosen positions."""
        return [self.encoding.tokens[position] for position in self.positions]

    @property
    def mlm_loss(self) -> float:
        """The mean of `losses`, in nats."""
        return float(self.losses.mean())

    @property
    def loss(self) -> float:
        """The loss of pre-training: the sum of both losses."""
        return self.mlm_loss + (self.next_loss or 0.0)


def hide(model: Network, encoding: Encoding, rules: Rules) -> MaskedPieces:
    """Choose and mask or replace the pieces of one input.

    Raises InputError when there is nothing to choose from, or shares are more than the whole.
    """
    if rules.masked + rules.random > 1 + 1e-9:
        raise InputError("Masked and replaced pieces are more than 100% together. Lower one of the two shares.")
    eligible = np.zeros(encoding.kept, dtype=bool)
    eligible[model.visible_positions(encoding)] = True
    if not eligible.any():
        raise InputError("No visible word is left to hide. Type one beside the [MASK]s.")
    rng = np.random.default_rng(rules.seed)
    if rules.strategy == WORDS:
        chosen = choose_words(eligible, encoding.text_words, rules.rate, rng)
    else:
        chosen = choose_pieces(eligible, rules.rate, rng)
    return treat_pieces(np.array(encoding.ids), chosen, rules, model.mask_id, model.ordinary_ids, rng)


def choose_words(eligible: np.ndarray, words: list[list[int]], rate: float, rng: np.random.Generator) -> np.ndarray:
    """Choose whole words until `rate` of the eligible pieces are chosen, as Devlin et al. did for their later models.

    `eligible` and the result are [tokens]; `words` lists the positions of each word, of which all must be eligible.
    """
    whole = [word for word in words if eligible[word].all()]
    chosen = np.zeros_like(eligible)
    for place in rng.permutation(len(whole)):
        if chosen.sum() >= rate * eligible.sum():
            break
        chosen[whole[place]] = True
    return chosen


@inference_mode
def play(model: Explorer, text_a: str, text_b: str, rules: Rules, next_label: int | None = None) -> Round:
    """Mask, run once, and score; see Round for `next_label`. Raises InputError or CapabilityError."""
    model.require("fill_mask")
    encoding = model.encode(text_a, text_b)
    masked = hide(model, encoding, rules)
    positions = np.flatnonzero(masked.treatment != UNTOUCHED).tolist()
    hidden = model.run(model.embed(torch.from_numpy(masked.input_ids[None]), torch.tensor(encoding.segments)))
    labels = torch.from_numpy(masked.labels[positions])
    logs = model.masked_lm(hidden[0][positions]).log_softmax(-1)
    is_next = next_loss = None
    if next_label is not None and text_b and model.capabilities.next_sentence:
        next_logs = model.next_sentence_logits(hidden).log_softmax(-1)[0]
        is_next, next_loss = float(next_logs[0].exp()), -float(next_logs[next_label])
    return Round(
        encoding,
        masked,
        tuple(positions),
        tuple(model.guesses(hidden[0][positions], positions, top_k=3)),
        -logs.gather(-1, labels[:, None])[:, 0].numpy(),
        tuple(model.pieces(masked.input_ids[positions].tolist())),
        next_label,
        is_next,
        next_loss,
    )


@inference_mode
def loss_error(model: Network, played: Round) -> float:
    """The difference of our loss from that of transformers' pre-training model with the same labels."""
    labels = torch.from_numpy(played.masked.labels[None])
    encoding = replace(played.encoding, ids=tuple(played.masked.input_ids.tolist()))
    scored = played.next_loss is not None
    given = {"labels": labels}
    if model.family.pair_head:  # the model adds both losses
        given[model.family.pair_label] = torch.tensor([played.next_label if scored else 0])
    outputs = model.own_outputs(encoding, **given)
    unscored = -float(outputs[2].log_softmax(-1)[0, 0]) if model.family.pair_head and not scored else 0.0
    return abs(float(outputs.loss) - unscored - played.loss)


IGNORED = -100
"""The label of a position without a loss; the value that PyTorch's cross-entropy and transformers ignore."""

UNTOUCHED, MASKED, RANDOM, KEPT = range(4)
"""The codes in `MaskedPieces.treatment`; the last three mark the chosen places."""


@dataclass(frozen=True)
class MaskedPieces:
    """An input after masking, [tokens] each."""

    input_ids: np.ndarray  # int64: what the model reads
    labels: np.ndarray  # the original id at chosen places, IGNORED elsewhere
    treatment: np.ndarray  # one of UNTOUCHED, MASKED, RANDOM, KEPT


def choose_pieces(eligible: np.ndarray, rate: float, rng: np.random.Generator) -> np.ndarray:
    """[tokens] single pieces chosen uniformly: `rate` (0 to 1) of the eligible ones, rounded, at least one (BERT's rule)."""
    lots = np.where(eligible, rng.random(len(eligible)), 2.0)  # 2 is above every random number, so it is never among the first
    chosen = np.zeros_like(eligible)
    chosen[lots.argsort()[: max(1, round(rate * eligible.sum()))]] = True
    return chosen


def treat_pieces(
    ids: np.ndarray, chosen: np.ndarray, rules: Rules, mask_id: int, random_ids: np.ndarray, rng: np.random.Generator
) -> MaskedPieces:
    """Replace the chosen pieces: each independently masked or random, by the shares of the rules, else kept.

    Random pieces are drawn from `random_ids` [n]; the original may be drawn too, as in BERT.
    """
    lot = rng.random(len(ids))
    treatment = np.select([~chosen, lot < rules.masked, lot < rules.masked + rules.random], [UNTOUCHED, MASKED, RANDOM], KEPT)
    others = rng.choice(random_ids, size=len(ids))
    read = np.select([treatment == MASKED, treatment == RANDOM], [mask_id, others], ids)
    return MaskedPieces(read, np.where(chosen, ids, IGNORED), treatment)
