"""The script of the Overview tab: the routes by which information reaches a position."""

from explorer.overview.routes import Routes
from explorer.overview.run import opens_on, selected_run
from explorer.ui.answer_scripts import changes
from explorer.ui.subject import Subject
from explorer.ui.writing import Script


def routes(view: Routes, subject: Subject) -> Script | None:
    """The token mixing of every layer, with all changes to the run, and the strongest routes to the chosen position."""
    layers, layer = subject.model.capabilities.layers, subject.model.layers[0]
    values = changes(subject) | {
        "keeps_attention": True,
        "state": layers if view.state < 0 else min(view.state, layers),
        "position": opens_on(subject, selected_run(subject).mixed.shares),
        "has_bias": layer.attention_dense.bias is not None,
        "has_norm": layer.attention_norm is not None,
        "centres": hasattr(layer.attention_norm, "eps"),
    }
    return Script("routes.py", **values)


CODE = {"overview/routes": routes}
WITHOUT = {
    "overview/trust": "It hides each word, as the Python of an answer's attribution does, and compares that with the routes."
}
