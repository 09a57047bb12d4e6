"""The tab Tokens: the input as BERT reads it, the embeddings of each token, and the vocabulary."""

from explorer.views.tokens.embeddings import Embeddings
from explorer.views.tokens.pieces import Pieces
from explorer.views.tokens.vocabulary import Vocabulary
from explorer.views.view import Cell, Tab

CHOICES: dict[str, list[list[Cell]]] = {
    "Pieces": [[Pieces]],
    "What is added up": [[Embeddings]],
    "The vocabulary": [[Vocabulary]],
}

TAB = Tab("tokens", "Tokens", "What does BERT read?", CHOICES)
