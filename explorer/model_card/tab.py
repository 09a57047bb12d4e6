"""The tab Model: its parts, its origin and its cost."""

from explorer.model_card.architecture import Configuration, ModuleTree, Parameters, Summary
from explorer.model_card.drawing import Drawing
from explorer.model_card.origin import Cost, OnPaper, Origin, Recipe
from explorer.model_card.other import EncoderDecoder, Gates, LongWay, Transfer
from explorer.model_card.weights import Weights
from explorer.ui.tabs import Tab

TAB = Tab(
    "model",
    "Model",
    "What is it made of?",
    {
        "Model": [[Summary], [Drawing, Parameters], [Origin], [Configuration], [Cost], [OnPaper], [Recipe], [ModuleTree]],
        "Weights": [[Weights]],
        "Other architectures": [[EncoderDecoder, LongWay]],
        "LSTM and transfer": [[Gates, Transfer]],
    },
)
