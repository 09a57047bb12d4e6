"""The texts that the benchmarks and the soak read."""

from functools import cache

from explorer.finetune.compute.from_table import built_in


@cache
def different_texts(number: int) -> list[str]:
    """`number` different texts: two of the built-in sentences each, always the same ones."""
    texts, found = built_in("sentiment").texts, []
    for turn in range(number):
        shift, first = divmod(turn, len(texts))  # all sentences come first before one does again
        found.append(f"{texts[first]} {texts[(first + 1 + shift) % len(texts)]}")
    return found
