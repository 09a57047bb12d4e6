"""Score a checkpoint on held-out text: `python -m explorer.pretraining.evaluate FOLDER --corpus heldout.txt.xz`.

Any folder (or hub name) with a BERT that has both pre-training heads can be scored, bert-base-uncased too. The text is
tokenised with the checkpoint's own tokenizer, so scores of two checkpoints compare only if they share a vocabulary.
"""

import argparse
import sys
from pathlib import Path

from transformers.utils import logging

from explorer.base.errors import InputError
from explorer.pretraining import scoring
from explorer.pretraining.batches import Vocabulary
from explorer.pretraining.command import status
from explorer.pretraining.corpus import load_file
from explorer.pretraining.host import keep_freed_memory
from explorer.pretraining.saving import open_model, open_tokenizer
from explorer.pretraining.scoring import Scores

SINGLE_LENGTH = 128  # a single sentence is cut here; about two in ten thousand held-out ones are longer


def evaluate(folder: str, text: Path, pairs: int, length: int, seed: int, long_pairs: int) -> dict[str, Scores]:
    """The scores of one checkpoint by kind of input: pairs, single sentences, short pairs and, if asked for, long ones.

    The same arguments give the same scores. Raises InputError for text that cannot be used and ModelError for a
    folder that is not a BERT with both heads.
    """
    tokenizer, model = open_tokenizer(folder), open_model(folder)
    longest = model.config.max_position_embeddings
    if not 8 <= length <= longest:
        raise InputError(f"This model reads 8 to {longest} pieces, so --length {length} cannot be scored.")
    corpus, vocabulary = load_file(text, tokenizer), Vocabulary.of(tokenizer)
    batches = {
        f"pairs of {length}": scoring.pair_batches(corpus, vocabulary, pairs, length, seed),
        "single sentences": scoring.single_batches(corpus, vocabulary, 3 * pairs, SINGLE_LENGTH, seed),
        "pairs of two sentences": scoring.pair_batches(corpus, vocabulary, pairs, SINGLE_LENGTH, seed, sentences=2),
    }
    if long_pairs:
        batches[f"pairs of {longest}"] = scoring.pair_batches(corpus, vocabulary, long_pairs, longest, seed)
        batches[f"packs of {longest}"] = scoring.pack_batches(corpus, vocabulary, long_pairs, longest, seed)
    return {name: scoring.score(model, inputs) for name, inputs in batches.items()}


def main() -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser("python -m explorer.pretraining.evaluate", description=__doc__)
    parser.add_argument("folder", help="checkpoint folder or hub name")
    parser.add_argument("--corpus", type=Path, required=True, help="held-out text, .txt or .txt.xz")
    parser.add_argument("--pairs", type=int, default=1000, help="how many pairs to score (default 1000)")
    parser.add_argument("--length", type=int, default=128, help="pieces of a pair (default 128)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--long", type=int, default=0, metavar="N", help="score N inputs of full length too")
    args = parser.parse_args()
    keep_freed_memory()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    given = args.folder, args.corpus, args.pairs, args.length, args.seed, args.long
    return status(lambda: _print_table(evaluate(*given)))


def _print_table(results: dict[str, Scores]) -> None:
    """A line for each kind of input: accuracies in per cent, the loss in nats."""
    print(f"{'':28} {'inputs':>7} {'places':>7} {'top-1':>7} {'top-5':>7} {'loss':>6} {'NSP':>7}")
    for name, scores in results.items():
        following = "" if scores.next_accuracy is None else f" {scores.next_accuracy:7.1%}"
        top = f"{scores.top1:7.1%} {scores.top5:7.1%} {scores.loss:6.3f}"
        print(f"{name:28} {scores.inputs:7,} {scores.chosen:7,} {top}{following}")
        if scores.late_top1 is not None:
            print(f"{'  from position 300 on':28} {'':7} {scores.late_chosen:7,} {scores.late_top1:7.1%}")


if __name__ == "__main__":
    sys.exit(main())
