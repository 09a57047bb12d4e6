"""Pairs of tokens that are likely related, judged by the words alone: English pronouns and what they may refer to."""

import numpy as np

from explorer.text.encoding import Encoding
from explorer.text.pieces import bare

_PRONOUNS = ("he him his himself she her hers herself", "it its itself", "they them their theirs themselves")
PRONOUNS = frozenset[str]().union(*map(str.split, _PRONOUNS))
_FUNCTION_WORDS = (
    "a an the this that these those i me my we us our you your who which what and or but nor so if because than as of to in on",
    "at by for from with into over under up down out off about after before between through during is am are was were be been",
    "being do does did have has had will would can could may might must shall should not no there here then too very all some",
)
FUNCTION_WORDS = PRONOUNS.union(*map(str.split, _FUNCTION_WORDS))


def telling_pairs(encoding: Encoding, pronouns: bool = True) -> np.ndarray:
    """[tokens, tokens] bool: the (query, key) whose strong attention would say most about this input.

    Pronouns with preceding words to which they may refer. Without any, or if `pronouns` is off, two different content words that
    are not neighbours; without these, any two tokens of the texts. None for a single token.
    """
    n = len(encoding.tokens)
    others = word_pairs(encoding)
    words = [bare(token).strip().casefold() for token in encoding.tokens]
    here = others.any(axis=1)
    blank = np.array([kind == "mask" for kind in encoding.kinds])
    content = here & ~blank & np.array([word not in FUNCTION_WORDS and any(map(str.isalnum, word)) for word in words])
    pronoun = here & np.array([word in PRONOUNS for word in words])
    far = ~(np.eye(n, dtype=bool) | np.eye(n, k=1, dtype=bool) | np.eye(n, k=-1, dtype=bool))
    different = np.array(words)[:, None] != np.array(words)[None, :]
    resolved = np.tril(pronoun[:, None] & content[None, :] & far)
    apart = content[:, None] & content[None, :] & far & different
    return next((pairs for pairs in ([resolved] if pronouns else []) + [apart] if pairs.any()), others)


def word_pairs(encoding: Encoding) -> np.ndarray:
    """[tokens, tokens] bool: any two different tokens of the texts."""
    here = np.zeros(len(encoding.tokens), dtype=bool)
    here[list(encoding.text_positions)] = True
    return here[:, None] & here[None, :] & ~np.eye(len(here), dtype=bool)
