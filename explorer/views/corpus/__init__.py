"""The tab Corpus: words, heads, neurons and layers across many sentences."""

from explorer.views.corpus.heads import Heads
from explorer.views.corpus.layers import Layers
from explorer.views.corpus.neurons import Neurons
from explorer.views.corpus.search import Search
from explorer.views.corpus.sentences import Sentences
from explorer.views.corpus.words import Words
from explorer.views.view import Tab

TAB = Tab(
    "corpus",
    "Corpus",
    "What happens across many sentences?",
    {
        "Search by meaning": [[Search]],
        "Words": [[Words]],
        "Head atlas": [[Heads]],
        "Neurons": [[Neurons]],
        "Layers": [[Layers]],
        "Sentences": [[Sentences]],
    },
    steppers=("layer", "head"),
    without_steppers=("Sentences",),
)
