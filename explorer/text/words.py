"""From pieces to words. Pure functions."""

from collections.abc import Sequence


def word_groups(sequences: Sequence[int], words: Sequence[int]) -> list[list[int]]:
    """The zero-based tokens of each word, in order; a token that the tokenizer added is a word of its own.

    `sequences` says which text a token came from, -1 for added ones; `words` counts the words of each text.
    """
    groups: list[list[int]] = []
    for token, (sequence, word) in enumerate(zip(sequences, words, strict=True)):
        joins = token > 0 and sequence >= 0 and (sequence, word) == (sequences[token - 1], words[token - 1])
        if joins:
            groups[-1].append(token)
        else:
            groups.append([token])
    return groups


def joined(tokens: Sequence[str], group: Sequence[int]) -> str:
    """The pieces of a word written as one: 'un', '##able' becomes 'unable'."""
    first, *rest = (tokens[token] for token in group)
    return first + "".join(piece.removeprefix("##") for piece in rest)


def hints(
    tokens: Sequence[str], offsets: Sequence[tuple[int, int]], sequences: Sequence[int], words: Sequence[int]
) -> list[str]:
    """What to tell of each token that is pointed at: its characters, counted from 1, and the word it is a piece of."""
    told = [""] * len(tokens)
    for group in word_groups(sequences, words):
        for token in group:
            if sequences[token] < 0:
                told[token] = "added by the tokenizer"
                continue
            start, end = offsets[token]
            characters = f"character {end}" if end - start == 1 else f"characters {start + 1}–{end}"
            told[token] = f"{characters} of {'AB'[sequences[token]]}"
            if len(group) > 1:
                told[token] += f"; {spelled(tokens, group)}"
    return told


def spelled(tokens: Sequence[str], group: Sequence[int]) -> str:
    """A word and the pieces it is made of: 'walking = walk + ##ing'."""
    return f"{joined(tokens, group)} = {' + '.join(tokens[token] for token in group)}"
