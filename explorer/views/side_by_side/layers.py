"""Every layer here beside every layer there."""

from explorer.analysis.similarity import cka_matrix
from explorer.figures.hidden import layers_heatmap
from explorer.views.side_by_side.other import SideView
from explorer.views.subject import Subject
from explorer.views.view import Content, caption, chart, sentence


class SideLayers(SideView):
    """How alike the hidden states of two models are, layer by layer."""

    name, question = "side-by-side/layers", "Which layer there does what a layer here does?"
    picture = chart("Similarity of all layers", height=420, optional=True)
    about = sentence()
    help = caption(
        "Linear CKA (Kornblith et al. 2019, section 3) of the mean vectors of 100 unrelated sentences: 1 where the sentences "
        "stand to each other alike in both spaces, however these are turned or scaled; two models need not be equally wide. A "
        "hundred sentences are few: what matters is where a row is highest, not how high it is."
    )

    def compute(self, subject: Subject) -> Content:
        """The matrix; nothing where both sides are one model."""
        from explorer.base.steps import finished
        from explorer.model import reference
        from explorer.model.features import layer_features_in_steps

        other = self.other(subject)
        if other.model.checkpoint == subject.model.checkpoint:
            return {"about": "Both sides are one model; name another to compare their layers."}
        here, there = (finished(layer_features_in_steps(one.model, reference.texts(), "mean")) for one in (subject, other))
        matrix = cka_matrix(here, there)  # [hidden states here, hidden states there]
        best = matrix[1:, 1:].argmax(1) + 1
        pairs = ", ".join(f"{layer} ~ {match}" for layer, match in enumerate(best, start=1))
        return {"picture": layers_heatmap(matrix), "about": f"The layer there that is most like each layer here: {pairs}."}
