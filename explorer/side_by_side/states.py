"""How far the hidden states of both sides are apart, token by token."""

import numpy as np

from explorer.analysis.similarity import cosines
from explorer.side_by_side.other import SideView, paired_tokens
from explorer.ui.pictures.bars import SEEN
from explorer.ui.pictures.hidden import by_layer_heatmap
from explorer.ui.subject import Subject
from explorer.ui.telling import TURNED
from explorer.ui.view import Content, Finding, Why, chart, sentence

MEANING = "Cosine distance (1 − cosine) between the two vectors of each token, one from each side (0 to 2)."
DIFFERENT_LENGTHS = "The inputs have different numbers of tokens, so these are not compared one by one."
OWN_SPACES = "Each model has its own space, so the vectors of two models are not compared one by one."
OVER_MANY = "The layers of two models are compared over many sentences, in Corpus."


class SideStates(SideView):
    """How far each token is from that at the same position there, by layer; two models have no space in common."""

    name, question = "side-by-side/states", "Where does the difference spread to?"
    picture = chart("How far the hidden states are apart", height=420, optional=True)
    about = sentence()

    def compute(self, subject: Subject) -> Content:
        if not self.is_one_model(subject):
            return {"about": OWN_SPACES}
        if (compared := self._compared(subject)) is None:
            return {"about": DIFFERENT_LENGTHS}
        return {"picture": by_layer_heatmap(*compared, 0, "cosine distance", self._farthest(subject)), "about": MEANING}

    def finding(self, subject: Subject) -> Finding | None:
        """The token that is the same on both sides and whose vector differs most, and where; for two models, where to look."""
        if not self.is_one_model(subject):
            other = {"look_at": "Similarity", "compared": self.other(subject).model_name}
            return Finding(OVER_MANY, Why("corpus", "Layers", settings=other))
        compared, farthest = self._compared(subject), self._farthest(subject)
        if compared is None or farthest is None:
            return None
        (layer, token), (apart, names) = farthest, compared
        if (most := float(apart[layer, token])) < SEEN:
            return Finding(f"The words on both sides keep their vectors: none differs by 0.01 {TURNED}.")
        return Finding(
            f"Of the words that both sides share, “{names[token]}” (token {token}) differs most: {most:.2f} at hidden state "
            f"{layer} {TURNED}."
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
