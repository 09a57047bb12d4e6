"""The tab Model: its parts, its origin and its cost."""

from explorer.views.model.architecture import Configuration, ModuleTree, Parameters, Summary
from explorer.views.model.drawing import Drawing
from explorer.views.model.origin import Cost, OnPaper, Origin
from explorer.views.model.weights import Weights
from explorer.views.view import Tab

TAB = Tab(
    "model",
    "Model",
    "What is it made of?",
    {
        "Model": [[Summary], [Drawing, Parameters], [Origin], [Configuration], [Cost], [OnPaper], [ModuleTree]],
        "Weights": [[Weights]],
    },
)
