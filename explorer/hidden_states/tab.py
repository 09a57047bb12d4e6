"""The tab Hidden states: the tokens in each layer, one word in many contexts, and sentences."""

from explorer.hidden_states.layers import EveryLayer, OneLayer, PooledOutput
from explorer.hidden_states.sentences import Sentences
from explorer.hidden_states.word import OneWord
from explorer.ui.tabs import Tab

TAB = Tab(
    "hidden",
    "Hidden states",
    "What becomes of the tokens, layer by layer?",
    {
        "Layer by layer": [[OneLayer, EveryLayer], [PooledOutput]],
        "One word, many contexts": [[OneWord]],
        "Sentences": [[Sentences]],
    },
    steppers=("hidden_state",),
)
