"""The tab Corpus: words, heads, neurons and layers across many sentences."""

from explorer.corpus.heads import Heads
from explorer.corpus.layers import Layers
from explorer.corpus.neurons import Neurons
from explorer.corpus.search import Search
from explorer.corpus.sentences import Sentences
from explorer.corpus.trees import Trees
from explorer.corpus.words import Words
from explorer.ui.tabs import Tab

TAB = Tab(
    "corpus",
    "Corpus",
    "What happens across many sentences?",
    {
        "Search by meaning": [[Search]],
        "Words": [[Words]],
        "Head atlas": [[Heads]],
        "Trees": [[Trees]],
        "Neurons": [[Neurons]],
        "Layers": [[Layers]],
        "Sentences": [[Sentences]],
    },
    reads_texts=False,
    steppers=("layer", "head"),
    without_steppers=("Sentences",),
)
