"""What a model can do, and the messages about what it cannot."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Capabilities:
    """The capabilities of a model, found from its configuration and the weights in its file."""

    layers: int
    heads: int
    neurons: int  # of a layer's feed-forward block
    hidden_size: int
    vocab_size: int
    parameters: int
    max_tokens: int
    fill_mask: bool  # has a masked-LM head
    next_sentence: bool  # has a head for pairs, and a pooler
    replaced: bool  # has a head that recognizes replaced pieces
    segments: bool  # distinguishes text A from text B
    positions: bool  # has a table of positions
    pooler: bool
    own_layers: bool  # every layer has its own weights
    own_head: str = ""  # the task of any other head, one of those in `families`


LACKS = {
    "fill_mask": "has no masked-language-model head: its file holds no weights for one, so it cannot fill a blank",
    "next_sentence": "has no next-sentence head: its file holds no weights for one, so it cannot predict whether B follows A",
    "replaced": "has no head for replaced pieces: only the discriminator of ELECTRA has one",
    "pooler": "has no pooler: its file holds no weights for one",
    "segments": "was trained without segments, so it cannot distinguish A from B",
    "positions": "has no vectors for positions: each layer turns queries and keys by their place (rotary positions)",
    "own_head": "has no task head: it was not fine-tuned",
    "own_layers": "has one set of weights for all its layers, so the top layers cannot be trained alone",
}
