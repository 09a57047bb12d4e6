"""All layers of both sides, compared."""

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


class SideStates(SideView):
    """The distance of every token's vector from that of the token at the same position there, layer by layer."""

    name, question = "side-by-side/states", "Where does the difference spread to?"
    spread = chart("How far the tokens are apart at every hidden state", height=380, optional=True)
    found = sentence()

    def compute(self, subject: Subject) -> Content:
        """The heatmap for two inputs to one model; otherwise the reason why there is none."""
        if not self.is_one_model(subject):
            return {"found": "The vectors of two models stand in spaces of their own, so they are not compared one by one."}
        if (compared := self._compared(subject)) is None:
            return {"found": "The inputs have different numbers of tokens, so these are not compared one by one."}
        return {"spread": by_layer_heatmap(*compared, 0, "1 − cosine", self._farthest(subject)), "found": MEANING}

    def finding(self, subject: Subject) -> Finding | None:
        """The token that is the same on both sides and whose vector differs most, and where."""
        if not self.is_one_model(subject) or (farthest := self._farthest(subject)) is None:
            return None
        if (compared := self._compared(subject)) is None:
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

        None when the inputs have different numbers of tokens.
        """
        here, there = subject.trace, self.other(subject).trace
        names = paired_tokens(here.encoding, there.encoding)
        return None if names is None else (1 - cosines(here.hidden_states, there.hidden_states), names)

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


class SideLayers(SideView, LongView):
    """The similarity of the hidden states of two models, layer by layer."""

    start = "Compare the layers"
    name, question = "side-by-side/layers", "Which layer there does what a layer here does?"
    picture = chart("Similarity of all layers", height=420, optional=True)
    about = sentence()
    help = caption(
        "Linear CKA (Kornblith et al. 2019, section 3) of the mean vectors of 100 unrelated sentences: 1 where the sentences "
        "stand to each other alike in both spaces, however these are turned or scaled; two models need not be equally wide. A "
        "hundred sentences are few: what matters is where a row is highest, not how high it is."
    )

    def passes(self, subject: Subject) -> float:
        """The cost of reading those sentences in the larger model, twice."""
        sizes = [one.layers * one.hidden_size**2 for one in (subject.model.capabilities, self.other(subject).model.capabilities)]
        return 0 if self.is_one_model(subject) else 2 * reference.words() / subject.trace.kept * max(1, sizes[1] / sizes[0])

    def key(self, subject: Subject) -> Hashable:
        """The cache key, which does not depend on the input."""
        return self.name, subject.model.checkpoint, self.other(subject).model.checkpoint

    def work(self, subject: Subject) -> Generator[float, None, np.ndarray]:
        """CKA [hidden states here, hidden states there]; empty when both sides are the same model."""
        if self.is_one_model(subject):
            return np.empty((0, 0))
        here = yield from map_steps(reference.means_in_steps(subject.model), lambda share: share / 2)
        there = yield from map_steps(reference.means_in_steps(self.other(subject).model), lambda share: 0.5 + share / 2)
        return cka_matrix(here, there)

    def draw(self, subject: Subject, found: np.ndarray) -> Content:
        """The matrix, and the maximum of each row."""
        if not found.size:
            return {"about": "Both sides are one model; name another to compare their layers."}
        best = found[1:, 1:].argmax(1) + 1
        pairs = ", ".join(f"{layer} ~ {match}" for layer, match in enumerate(best, start=1))
        return {"picture": layers_heatmap(found), "about": f"The layer there that is most like each layer here: {pairs}."}
