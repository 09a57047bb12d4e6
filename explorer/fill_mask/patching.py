"""Activation patching: one vector of one run put into another, to find where the difference between their inputs is."""

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from explorer.bert.trace import Trace
from explorer.fill_mask.pictures import patching_heatmap, recovery_heatmap
from explorer.fill_mask.word import FOIL, SECOND, WORD, against, no_blank
from explorer.techniques.ablation import patching_in_steps, with_mask
from explorer.techniques.attribution import occlusion
from explorer.techniques.targets import Target, own_reading, word_target
from explorer.ui.layout import row
from explorer.ui.long_view import LongView
from explorer.ui.pictures.bars import SEEN, change_of, from_to, percent, sign, whole_percent
from explorer.ui.settings import text, use
from explorer.ui.subject import Subject
from explorer.ui.switch_heads import Measured, measure_at
from explorer.ui.telling import quote
from explorer.ui.view import Content, Finding, caption, chart, part, sentence, verdict

LONG = 4  # letters; where the model keeps 'the' says little
ALIKE = 0.1  # logits; a smaller difference between the runs is not divided by


class Patched(NamedTuple):
    """The target with one vector patched, [hidden states, tokens] each, and in the two whole runs.

    `logits` are differences, word minus foil, if the target has a foil.
    """

    tokens: tuple[str, ...]
    corrupted_tokens: tuple[str, ...]
    target: Target
    logits: np.ndarray
    probabilities: np.ndarray
    clean: Measured
    corrupted: Measured

    @property
    def recovered(self) -> np.ndarray:
        """(patched − corrupted) / (clean − corrupted), of logits: 0 as in the corrupted run, 1 as in the clean one."""
        apart = self.clean[0] - self.corrupted[0]
        return (self.logits - self.corrupted[0]) / apart if abs(apart) >= ALIKE else np.zeros_like(self.logits)


class Patching(LongView):
    """Copies one hidden state at a time from a clean run into a corrupted one."""

    name, question = "fill-mask/patching", "Where does the model carry a difference between two inputs?"
    start = "Patch every state"
    unless = staticmethod(no_blank)
    layout = (row("word", "foil"),)
    word: str = use(WORD, "")
    foil: str = use(FOIL, "")
    heatmap = chart("What one vector of the original run brings back in the changed one", height=320, answer=True)
    corrupted: str = text("", "The changed text", placeholder="A with its most decisive word hidden", elem_classes="inline long")
    summary = sentence(keep_height=True, answer=True)
    check = part("check", keep_height=True)
    help = caption(
        "The colour shows how much a copied vector brings back. With *rather than*, it is the recovery of the difference of "
        "logits, word minus foil: 0 as in the changed run, 1 as in the original; values below 0 or above 1 overshoot. With "
        "*nothing*, it is the word's probability: near 0 or 100% it hides large changes in the model. Patching shows where the "
        "**difference** between two inputs is carried, and nothing that both share. Another changed text may show another place. "
        "The original run reads the text above; the changed run reads the same number of pieces. If its box is empty, it reads "
        "B if most of its pieces are those of A. One hidden state of one token at a time is copied from the first run into the "
        "second: activation patching (Vig et al. 2020; Geiger et al. 2021; Zhang & Nanda 2024). Meng et al. 2022 use noise "
        "instead. The strongest rival is the changed run's first guess, or the original's second guess if that is the word."
    )

    def passes(self, subject: Subject) -> float:
        """The cost of a run from each hidden state of each token upwards."""
        return subject.trace.kept * (subject.model.capabilities.layers + 1) / 2

    def work(self, subject: Subject) -> Generator[float, None, Patched]:
        clean, corrupted = self.pair(subject)
        target = self.target(subject, clean, corrupted)
        found = yield from patching_in_steps(clean, corrupted, target)
        whole = (measure_at(own_reading(trace, target), 0) for trace in (clean, corrupted))
        return Patched(clean.tokens, corrupted.tokens, target, found.logit.numpy(), found.probability.numpy(), *whole)

    def draw(self, subject: Subject, found: Patched) -> Content:
        target, place = found.target, found.target.position
        error = max(abs(found.logits[-1, place] - found.clean[0]), abs(found.probabilities[-1, place] - found.clean[1]))
        unit = "probability" if target.foil is None else "difference of logits"
        proof = f"the last state of the blank, patched, gives the original run's {unit} (error {error:.0e})"
        if target.foil is None:
            drawn = patching_heatmap(found.probabilities, found.tokens, target.token, found.clean[1], found.corrupted[1])
        else:
            drawn = recovery_heatmap(found.recovered, found.logits, found.probabilities, found.tokens, target)
        return {"summary": _summary(found), "heatmap": drawn, "check": verdict(error < 1e-3, proof)}

    def finding(self, subject: Subject) -> Finding | None:
        """The last layer at which a single token other than the blank brings back half of the difference."""
        if (found := self.known(subject)) is None:
            return None
        target, others = found.target, [token for token in range(len(found.tokens)) if token != found.target.position]
        at, least, what = (1, SEEN, "probability") if target.foil is None else (0, ALIKE, "logit difference")
        write = percent if target.foil is None else sign
        values, clean, corrupted = (found.logits, found.probabilities)[at], found.clean[at], found.corrupted[at]
        if clean - corrupted <= least:
            if corrupted - clean <= least:
                same = f"{target.quoted} has about the same {what} in both runs ({write(clean)} and {write(corrupted)})"
                return Finding(f"Nothing to bring back: {same}.")
            changed = f"{target.quoted} has a higher {what} in the changed run ({write(corrupted)})"
            return Finding(f"{changed} than in the original one ({write(clean)}), so there is nothing to bring back.")
        held = np.flatnonzero(values[:, others].max(axis=1) >= (clean + corrupted) / 2)
        if not len(held):
            return None
        layer = int(held[-1])
        token = others[int(values[layer, others].argmax())]
        vector = f"the original vector of {quote(found.tokens, token)} at hidden state {layer} brings"
        if target.foil is None:
            falls = f"{change_of(target.token, clean, corrupted)} in the changed run"
            _, brought = from_to(corrupted, float(values[layer, token]), whole=whole_percent)
            return Finding(f"{falls}; {vector} it back to {brought}.")
        share = whole_percent(float(found.recovered[layer, token]))
        return Finding(f"Put into the changed run, {vector} {share} of the difference back ({target.quoted}).")

    def target(self, subject: Subject, clean: Trace, corrupted: Trace) -> Target:
        """The word at the blank of the clean run. Its strongest rival is what the corrupted run says, if that is another word."""
        target = word_target(clean, self.word, min(subject.blank, clean.mask_positions[-1]))
        if self.foil == SECOND and target.position < corrupted.kept:
            other = word_target(corrupted, "", target.position)
            if other.id != target.id:
                return target.against(other.id, other.token)
        return against(clean, target, self.foil)

    def pair(self, subject: Subject) -> tuple[Trace, Trace]:
        model, trace = subject.model, subject.trace
        if self.corrupted.strip():
            return trace, model.trace(self.corrupted, subject.text_b)
        if subject.text_b.strip():
            alone, second = model.trace(subject.text_a), model.trace(subject.text_b)
            if alone.mask_positions and _hardly_differ(alone, second):
                return alone, second
        return trace, _mask_decisive_piece(subject)


def _hardly_differ(one: Trace, other: Trace) -> bool:
    """Whether two inputs have as many tokens, and more than half of those between the special ones are the same."""
    same = sum(first == second for first, second in zip(one.ids[1:-1], other.ids[1:-1], strict=False))
    return one.kept == other.kept and same > (one.kept - 2) / 2


def _summary(found: Patched) -> str:
    """The target in both runs, and what differs between their inputs."""
    pairs = enumerate(zip(found.tokens, found.corrupted_tokens, strict=True))
    changed = [f"{quote(found.tokens, place)} → “{other}”" for place, (clean, other) in pairs if clean != other]
    where = f"with {', '.join(changed[:4])}{', …' * (len(changed) > 4)}" if changed else "where nothing was changed"
    target, (clean, share), (corrupted, other) = found.target, found.clean, found.corrupted
    before, after = (percent(share), percent(other)) if target.foil is None else (f"{sign(clean)} logits", sign(corrupted))
    both = f"{target.name} at position {target.position}: {before} in the original run, {after} in the changed one, {where}."
    if target.foil is None:
        return both
    alike = abs(clean - corrupted) < ALIKE
    rest = " The runs hardly differ in it, so patching has nothing to bring back. Choose another foil." if alike else ""
    return f"{both} {target.token} alone: {percent(share)} and {percent(other)}.{rest}"


def _mask_decisive_piece(subject: Subject) -> Trace:
    """The input with its most important piece masked: of the longer ones, the one whose occlusion costs the first guess most."""
    trace = subject.trace
    scores = occlusion(trace, word_target(trace, "", subject.blank)).scores
    long = np.array([len(token) >= LONG for token in trace.tokens]) & (scores != 0)
    return with_mask(trace, int(np.argmax(np.where(long, scores, -np.inf) if long.any() else scores)))
