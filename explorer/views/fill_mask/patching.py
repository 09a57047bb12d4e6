"""Activation patching: which hidden states hold the answer."""

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from explorer.figures.bars import percent, whole_percent
from explorer.figures.masked_lm import patching_heatmap
from explorer.model.trace import Trace
from explorer.techniques.ablation import patching_in_steps, with_mask
from explorer.techniques.attribution import occlusion
from explorer.techniques.targets import Target, own_reading, word_target
from explorer.views.fill_mask.word import WORD, no_blank
from explorer.views.settings import text, use
from explorer.views.subject import Subject
from explorer.views.view import Content, Finding, LongView, caption, chart, part, sentence, verdict

LONG = 4  # letters; where the model keeps 'the' says little


class Patched(NamedTuple):
    """The result of patching: `probabilities` [hidden states, tokens], and those of the two whole runs."""

    tokens: tuple[str, ...]
    corrupted_tokens: tuple[str, ...]
    target: Target
    probabilities: np.ndarray
    clean: float
    corrupted: float


class Patching(LongView):
    """Copies one hidden state at a time from a clean run into a corrupted one."""

    name, question = "fill-mask/patching", "Where in the model is the answer kept?"
    start = "Patch every state"
    unless = staticmethod(no_blank)
    word: str = use(WORD, "")
    corrupted: str = text(
        "", "Corrupted text", placeholder="A, with the longer word that matters most hidden", elem_classes="inline long"
    )
    heatmap = chart("Probability of the word with one state patched", height=320, answer=True)
    summary = sentence(keep_height=True, answer=True)
    check = part("check", keep_height=True)
    help = caption(
        "A is the clean run. The corrupted run is the same with other words, and one hidden state of it at a time is "
        "replaced by that of the clean run: the stronger the colour, the more of the answer that one state brings back "
        "(causal tracing, Meng et al. 2022). What is to be seen moves from the changed word to the blank. A corrupted text "
        "has as many pieces as A; if B has, and nothing is typed here, B is the corrupted text."
    )

    def passes(self, subject: Subject) -> float:
        """The cost of a run from each hidden state of each token upwards."""
        return subject.trace.kept * (subject.model.capabilities.layers + 1) / 2

    def work(self, subject: Subject) -> Generator[float, None, Patched]:
        """Both runs, and the result of patching each state."""
        clean, corrupted = self._pair(subject)
        target = word_target(clean, self.word, min(subject.blank, clean.mask_positions[-1]))
        found = yield from patching_in_steps(clean, corrupted, target)
        whole = (float(own_reading(trace, target).probability) for trace in (clean, corrupted))
        return Patched(clean.tokens, corrupted.tokens, target, found, *whole)

    def draw(self, subject: Subject, found: Patched) -> Content:
        """The heatmap of what each state restores."""
        pairs = zip(found.tokens, found.corrupted_tokens, strict=True)
        changed = [f"{clean} → {corrupted}" for clean, corrupted in pairs if clean != corrupted]
        where = ", ".join(changed[:4]) + (", …" if len(changed) > 4 else "") if changed else "nothing was changed"
        target, clean, corrupted = found.target, found.clean, found.corrupted
        error = abs(float(found.probabilities[-1, target.position]) - clean)
        proof = f"the last state of the blank, patched, gives the clean run's probability (error {error:.0e})"
        return {
            "summary": f"{target.token} at position {target.position}: {percent(clean)} clean, {percent(corrupted)} "
            f"corrupted ({where}).",
            "heatmap": patching_heatmap(found.probabilities, found.tokens, target.token, clean, corrupted),
            "check": verdict(error < 1e-4, proof),
        }

    def finding(self, subject: Subject) -> Finding | None:
        """Up to which layer a token other than the blank restores half of the answer by itself."""
        if (found := self.known(subject)) is None:
            return None
        others = [token for token in range(len(found.tokens)) if token != found.target.position]
        best = found.probabilities[:, others].max(axis=1)  # [hidden states]
        held = np.flatnonzero(best >= (found.clean + found.corrupted) / 2)
        if not len(held) or found.clean <= found.corrupted:
            return None
        layer = int(held[-1])
        token = found.tokens[others[int(found.probabilities[layer, others].argmax())]]
        back = f"{whole_percent(float(best[layer]))}, after {whole_percent(found.corrupted)} in the corrupted run"
        return Finding(f"Up to hidden state {layer}, “{token}” alone brings “{found.target.token}” back: {back}.")

    def _pair(self, subject: Subject) -> tuple[Trace, Trace]:
        """The clean and the corrupted input."""
        model, trace = subject.model, subject.trace
        if self.corrupted.strip():
            return trace, model.trace(self.corrupted, subject.text_b)
        if subject.text_b.strip():
            alone, second = model.trace(subject.text_a), model.trace(subject.text_b)
            if alone.kept == second.kept and alone.mask_positions:
                return alone, second
        return trace, _hidden(subject)


def _hidden(subject: Subject) -> Trace:
    """The input with its most important piece masked: of the longer ones, the one whose occlusion costs the first guess most."""
    trace = subject.trace
    scores = occlusion(trace, word_target(trace, "", subject.blank)).scores
    long = np.array([len(token) >= LONG for token in trace.tokens]) & (scores != 0)
    return with_mask(trace, int(np.argmax(np.where(long, scores, -np.inf) if long.any() else scores)))
