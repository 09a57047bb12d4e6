"""The tab Corpus: words, heads, neurons and layers across many sentences."""

from explorer.corpus.heads import NEURON as ONE_NEURON
from explorer.corpus.heads import Heads
from explorer.corpus.layers import Layers
from explorer.corpus.search import WORD, Search
from explorer.ui.tabs import Moved, Tab

SEARCHING, UNITS = "Search and words", "Heads and neurons"
FORMER = {  # the choices that links named before, with where they are now
    "search-by-meaning": (SEARCHING, {}),
    "words": (SEARCHING, {"compare": WORD}),
    "sentences": (SEARCHING, {"compare": WORD}),
    "head-atlas": (UNITS, {}),
    "trees": (UNITS, {}),
    "neurons": (UNITS, {"unit": ONE_NEURON}),
}

TAB = Tab(
    "corpus",
    "Corpus",
    "Which sentences are similar?",
    {SEARCHING: [[Search]], UNITS: [[Heads]], "Layers": [[Layers]]},
    reads_texts=False,
    shared=[["source"], ["file", "column"], ["data_set"], ["pasted"]],
    steppers=("layer", "head"),
    moved={
        name: Moved(f"The link's view is in {choice} now.", "corpus", choice.lower().replace(" ", "-"), settings)
        for name, (choice, settings) in FORMER.items()
    },
)
