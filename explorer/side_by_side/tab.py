"""The tab Side by side: the same input in another model, or another input in the same model."""

from explorer.side_by_side.attention import SideAttention
from explorer.side_by_side.guesses import SideGuesses, SidePair
from explorer.side_by_side.layers import SideLayers, SideStates
from explorer.side_by_side.pieces import SidePieces
from explorer.side_by_side.swaps import Swaps
from explorer.ui.tabs import Tab

TAB = Tab(
    "side-by-side",
    "Side by side",
    "What is different over there?",
    {
        "Guesses": [[SideGuesses], [SidePair]],
        "Pieces": [[SidePieces]],
        "Attention": [[SideAttention]],
        "Hidden states": [[SideStates], [SideLayers]],
    },
    above=[Swaps],
    steppers=("layer", "head"),
    without_steppers=("Pieces", "Guesses", "Hidden states"),
    note="Another model (a name, a hub id or a folder), another input, or both; what is empty is as above. "
    "A model that is not on this machine yet is fetched "
    "by opening it once in the box above.",
)
