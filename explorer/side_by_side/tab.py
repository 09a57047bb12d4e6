"""The tab Side by side: the same input in another model, or another input in the same model; its menu is what to compare."""

from explorer.side_by_side.attention import SideAttention
from explorer.side_by_side.guesses import SideGuesses, SidePair
from explorer.side_by_side.other import Swaps
from explorer.side_by_side.pieces import SidePieces
from explorer.side_by_side.states import SideStates
from explorer.ui.tabs import Tab

TAB = Tab(
    "side-by-side",
    "Side by side",
    "What differs with another model or input?",
    {
        "Guesses": [[SideGuesses]],
        "Attention": [[SideAttention]],
        "Hidden states": [[SideStates]],
        "Next sentence": [[SidePair]],
        "Pieces": [[SidePieces]],
    },
    above=[Swaps],
    shared=[["other_model", "other_a", "other_b"]],
    steppers=("layer", "head"),
    without_steppers=("Guesses", "Next sentence", "Pieces", "Hidden states"),
    note="Name another model (a name, a hub id or a folder), another input, or both. Empty boxes use the input and model "
    "above. To fetch a model that this machine lacks, open that model once in the box above.",
)
