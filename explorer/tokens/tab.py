"""The tab Tokens: the input as BERT reads it, the embeddings of each token, and the vocabulary."""

from explorer.tokens.pieces import Embeddings, Pieces
from explorer.tokens.vocabulary import BytePairs, Vocabulary
from explorer.ui.programs import program
from explorer.ui.tabs import Tab

TAB = Tab(
    "tokens",
    "Tokens",
    "What does BERT read?",
    {"Pieces": [[Pieces]], "What is added up": [[Embeddings]], "The vocabulary": [[Vocabulary]], "Byte pairs": [[BytePairs]]},
    in_sight=2,
    programs=dict.fromkeys(("tokens/pieces", "tokens/embeddings"), program("embeddings")),
)
