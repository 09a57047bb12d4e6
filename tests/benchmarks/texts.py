"""The texts that the benchmarks read: tweets where they lie beside the repository, else as many made of our own."""

import os
from functools import cache
from itertools import cycle
from pathlib import Path

from explorer.finetune.compute.columns import guess_columns
from explorer.finetune.compute.from_table import built_in, examples_from_table
from explorer.text.tables import read_table
from explorer.training.examples import Examples

ROOT = Path(__file__).resolve().parents[2]
TWEETS = Path(os.environ.get("BERT_EXPLORER_TWEETS", ROOT.parent / "shared" / "data" / "tweets_train.csv"))


@cache
def labelled_texts(number: int) -> Examples:
    """The first tweets, at most `number`, or so many different texts with the labels of the built-in sentences."""
    if TWEETS.is_file():
        table = read_table(TWEETS)
        examples, _ = examples_from_table(table, guess_columns(table))
        return Examples(examples.texts[:number], examples.labels[:number])
    return recombined(built_in("sentiment"), number)


def recombined(examples: Examples, number: int) -> Examples:
    """`number` different texts: two sentences of one label each, the labels in turn, always the same ones."""
    by_label = [
        [text for text, label in zip(examples.texts, examples.labels, strict=True) if label == wanted]
        for wanted in examples.classes
    ]
    labels, rows = cycle(zip(examples.classes, by_label, strict=True)), []
    for turn, (label, texts) in zip(range(number), labels, strict=False):
        shift, first = divmod(turn // len(by_label), len(texts))  # all sentences come first before one does again
        rows.append((f"{texts[first]} {texts[(first + 1 + shift) % len(texts)]}", label))
    return Examples(*zip(*rows, strict=True))
