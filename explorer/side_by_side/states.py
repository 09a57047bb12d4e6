"""The hidden states of both sides: token by token for one model, whole layers for two."""

from collections.abc import Generator, Hashable

import numpy as np

from explorer.analysis.similarity import cka_matrix, cosines
from explorer.bert import reference
from explorer.core.steps import map_steps
from explorer.side_by_side.other import SideView, paired_tokens
from explorer.ui.long_view import LongView
from explorer.ui.pictures.bars import SEEN
from explorer.ui.pictures.hidden import by_layer_heatmap, layers_heatmap
from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding, caption, chart, sentence

MEANING = "1 − cosine between the vectors of each token here and there (0 to 2)."
DIFFERENT_LENGTHS = "The inputs have different numbers of tokens, so these are not compared one by one."


class SideStates(SideView, LongView):
    """How far each token is from that at the same position there, by layer; for two models, how similar their layers are."""

    start = "Compare the layers"
    name, question = "side-by-side/states", "Where does the difference spread to?"
    picture = chart("How far the hidden states are apart, or how similar those of two models are", height=420, optional=True)
    about = sentence()
    help = caption(
        "The vectors of two models are not compared one by one, since each model has its own space. What is compared is "
        "linear CKA (Kornblith et al. 2019, section 3) of the mean vectors of 100 unrelated sentences. It is 1 where the "
        "sentences have the same similarities in both spaces, however these are turned or scaled; the models may differ in "
        "width. A hundred sentences are few: what matters is where a row is highest, not how high it is."
    )

    def passes(self, subject: Subject) -> float:
        """For two models, the cost of reading those sentences in the larger one, twice."""
        if self.is_one_model(subject):
            return 0
        sizes = [
            model.layers * model.hidden_size**2 for model in (subject.model.capabilities, self.other(subject).model.capabilities)
        ]
        return 2 * reference.words() / subject.trace.kept * max(1, sizes[1] / sizes[0])

    def key(self, subject: Subject) -> Hashable:
        """The cache key, which does not depend on the input."""
        return self.name, subject.model.checkpoint, self.other(subject).model.checkpoint

    def work(self, subject: Subject) -> Generator[float, None, np.ndarray]:
        """CKA [hidden states here, hidden states there] of two models; empty for one, whose traces `draw` compares."""
        if self.is_one_model(subject):
            return np.empty((0, 0))
        here = yield from map_steps(reference.vectors_in_steps(subject.model, "mean"), lambda share: share / 2)
        there = yield from map_steps(reference.vectors_in_steps(self.other(subject).model, "mean"), lambda share: 0.5 + share / 2)
        return cka_matrix(here, there)

    def draw(self, subject: Subject, found: np.ndarray) -> Content:
        if found.size:
            best = found[1:, 1:].argmax(1) + 1
            pairs = ", ".join(f"{layer} ~ {match}" for layer, match in enumerate(best, start=1))
            return {"picture": layers_heatmap(found), "about": f"The layer there that is most like each layer here: {pairs}."}
        if (compared := self._compared(subject)) is None:
            return {"about": DIFFERENT_LENGTHS}
        return {"picture": by_layer_heatmap(*compared, 0, "1 − cosine", self._farthest(subject)), "about": MEANING}

    def finding(self, subject: Subject) -> Finding | None:
        """For one model, the token that is the same on both sides and whose vector differs most, and where."""
        compared, farthest = self._compared(subject), self._farthest(subject)
        if compared is None or farthest is None:
            return None
        (layer, token), (apart, names) = farthest, compared
        if (most := float(apart[layer, token])) < SEEN:
            return Finding("The words that are the same on both sides keep their vectors: none turns by 0.01 (1 − cosine).")
        return Finding(
            f"Of the words that are the same on both sides “{names[token]}” (token {token}) changes most: by "
            f"{most:.2f} (1 − cosine), at hidden state {layer}."
        )

    def _compared(self, subject: Subject) -> tuple[np.ndarray, list[str]] | None:
        """1 − cosine between tokens at the same position, [layers + 1, tokens], 0 to 2, and the names of the positions.

        None for two models, and when the inputs have different numbers of tokens.
        """
        here, there = subject.trace, self.other(subject).trace
        names = paired_tokens(here.encoding, there.encoding)
        if names is None or not self.is_one_model(subject):
            return None
        return 1 - cosines(here.hidden_states, there.hidden_states), names

    def _farthest(self, subject: Subject) -> tuple[int, int] | None:
        """The hidden state and the token of the largest difference, among tokens of the texts that are the same on both sides."""
        if (compared := self._compared(subject)) is None:
            return None
        apart, mine, yours = compared[0], subject.trace.ids, self.other(subject).trace.ids
        same = [token for token in subject.trace.encoding.text_positions if mine[token] == yours[token]]
        if not same or mine == yours:
            return None
        layer, place = np.unravel_index(int(apart[:, same].argmax()), (len(apart), len(same)))
        return int(layer), same[place]
