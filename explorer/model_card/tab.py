"""The tab Model: its parts, its origin and its cost."""

from explorer.model_card.architecture import Configuration, EmbeddingTables, ModuleTree, Parameters, Summary
from explorer.model_card.drawing import Drawing
from explorer.model_card.origin import Cost, OnPaper, Origin, Recipe
from explorer.model_card.weights import Weights
from explorer.ui.tabs import Moved, Tab

_DRAWINGS = "Other architectures, LSTM and transfer are drawings in the guide now. The link is at the foot of this page."

TAB = Tab(
    "model",
    "Model",
    "What is this model made of?",
    {
        "Model": [
            [Drawing, Parameters],
            [Summary],
            [Origin],
            [Configuration],
            [Cost],
            [OnPaper],
            [Recipe],
            [EmbeddingTables],
            [ModuleTree],
        ],
        "Weights": [[Weights]],
    },
    reads_texts=False,
    note="[Drawings of other networks](bx/guide/networks): an encoder with a decoder, a recurrent network beside attention, "
    "the gates of an LSTM, and transfer.",
    moved={name: Moved(_DRAWINGS, "model", "model") for name in ("other-architectures", "lstm-and-transfer")},
)
