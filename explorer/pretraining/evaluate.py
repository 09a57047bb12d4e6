"""Score a checkpoint: `python -m explorer.pretraining.evaluate FOLDER --corpus heldout.txt.xz everyday-heldout.txt.xz`.

Any folder (or hub name) with a BERT that has both pre-training heads can be scored, bert-base-uncased too. The text is tokenised
with the checkpoint's own tokenizer, so scores of two checkpoints compare only if they share a vocabulary. A text whose documents
have one sentence each is scored on single sentences only. The report also has our own blanks and pairs, and how often the first
guess copies a word of the input.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer import load
from explorer.core.command import status
from explorer.core.engine import transformers
from explorer.core.errors import InputError
from explorer.pretraining import sampling, scoring
from explorer.pretraining.batches import Vocabulary
from explorer.pretraining.copying import Copies, copies
from explorer.pretraining.corpus import Corpus, load_file
from explorer.pretraining.everyday import Filled, Judged, by_kind, fill, judge, markdown
from explorer.pretraining.host import keep_freed_memory
from explorer.pretraining.saving import open_model, open_tokenizer
from explorer.pretraining.scoring import Scores

SINGLE_LENGTH = 128  # where a single sentence is cut; about two in ten thousand held-out ones are longer
COPY_PLACES = 500  # masked content words in which copies are counted, over all texts


@dataclass(frozen=True)
class Report:
    """All scores of one checkpoint."""

    heldout: dict[str, dict[str, Scores]]  # by text and kind of input
    copies: Copies | None  # None without a text
    filled: list[Filled]
    judged: list[Judged]

    def numbers(self) -> dict[str, object]:
        """All numbers, without the guesses, ready for JSON."""
        kinds = {kind: dict(zip(("blanks", "top1", "top5"), of, strict=True)) for kind, of in by_kind(self.filled).items()}
        return {
            "heldout": {text: {name: asdict(scores) for name, scores in of.items()} for text, of in self.heldout.items()},
            "copies": self.copies and asdict(self.copies),
            "blanks": kinds,
            "pairs": {"pairs": len(self.judged), "right": sum(line.right for line in self.judged)},
        }


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
    batches = {"single sentences": scoring.single_batches(corpus, vocabulary, 3 * pairs, SINGLE_LENGTH, seed)}
    if corpus.has_pairs:
        batches = {
            f"pairs of {length}": scoring.pair_batches(corpus, vocabulary, pairs, length, seed),
            **batches,
            "pairs of two sentences": scoring.pair_batches(corpus, vocabulary, pairs, SINGLE_LENGTH, seed, sentences=2),
        }
    if corpus.has_pairs and long_pairs:
        batches[f"pairs of {longest}"] = scoring.pair_batches(corpus, vocabulary, long_pairs, longest, seed)
        batches[f"packs of {longest}"] = scoring.pack_batches(corpus, vocabulary, long_pairs, longest, seed)
    return {name: scoring.score(model, inputs) for name, inputs in batches.items()}


def count_copies(folder: str, texts: Sequence[Path], seed: int) -> Copies:
    """How often a checkpoint copies, over COPY_PLACES single sentences spread equally over the texts.

    Raises as `evaluate` does.
    """
    tokenizer, model = open_tokenizer(folder), open_model(folder).eval()
    corpora = [load_file(text, tokenizer) for text in texts]
    vocabulary = Vocabulary.of(tokenizer)
    each = -(-COPY_PLACES // len(corpora))
    examples = [example for corpus in corpora for example in _with_content(corpus, vocabulary, each)]
    return copies(model, examples, vocabulary, seed)


def _with_content(corpus: Corpus, vocabulary: Vocabulary, count: int) -> list[sampling.Example]:
    """Evenly spread sentences with at least two content words of a single piece: one to mask and one that could be copied."""
    every = np.arange(corpus.sentences)
    walk = (sampling.single(corpus, sampling.evenly(n, every), SINGLE_LENGTH) for n in range(4 * count))
    return [example for example in walk if _whole(example.a, vocabulary).sum() >= 2][:count]


def _whole(ids: NDArray[np.uint16], vocabulary: Vocabulary) -> NDArray[np.bool_]:
    """Which pieces [tokens] are a content word by themselves."""
    goes_on = np.append(vocabulary.continues[ids[1:]], False)
    return vocabulary.content[ids] & ~goes_on


def report(args: argparse.Namespace) -> Report:
    """The report for the arguments of the command line."""
    options = args.pairs, args.length, args.seed, args.long
    heldout = {text.name: evaluate(args.folder, text, *options) for text in args.corpus}
    model = load(args.folder)
    copied = count_copies(args.folder, args.corpus, args.seed) if args.corpus else None
    return Report(heldout, copied, list(fill(model)), list(judge(model)))


def main() -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser("python -m explorer.pretraining.evaluate", description=__doc__)
    add = parser.add_argument
    add("folder", help="checkpoint folder or hub name")
    add("--corpus", type=Path, nargs="+", default=[], help="held-out texts, .txt or .txt.xz (default: none)")
    add("--pairs", type=int, default=1000, help="how many pairs to score (default 1000)")
    add("--length", type=int, default=128, help="pieces of a pair (default 128)")
    add("--seed", type=int, default=1)
    add("--long", type=int, default=0, metavar="N", help="score N inputs of full length too")
    add("--json", type=Path, metavar="FILE", help="write the numbers to this file too")
    args = parser.parse_args()
    keep_freed_memory()
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    return status(lambda: _tell(report(args), args.json))


def _tell(found: Report, file: Path | None) -> None:
    """Print a report, partly in Markdown for the model card, and write its numbers to a file."""
    for name, scores in found.heldout.items():
        print(f"\n{name}\n")
        _print_table(scores)
    if found.copies:
        print(
            f"\nOf {found.copies.places} hidden words of content the first guess is right for {found.copies.right:.1%}, and for "
            f"{found.copies.copied:.1%} it copies another word of the input; {found.copies.repeated:.1%} stand there twice.\n"
        )
    print(markdown(found.filled, found.judged))
    if file:
        file.write_text(json.dumps(found.numbers(), indent=1) + "\n", "utf-8")


def _print_table(results: dict[str, Scores]) -> None:
    """Print a row for each kind of input: accuracies in percent, the loss in nats."""
    print(f"{'':28} {'inputs':>7} {'places':>7} {'top-1':>7} {'top-5':>7} {'loss':>6} {'NSP':>7}")
    for name, scores in results.items():
        following = "" if scores.next_accuracy is None else f" {scores.next_accuracy:7.1%}"
        top = f"{scores.top1:7.1%} {scores.top5:7.1%} {scores.loss:6.3f}"
        print(f"{name:28} {scores.inputs:7,} {scores.chosen:7,} {top}{following}")
        if scores.late_top1 is not None:
            print(f"{'  from position 300 on':28} {'':7} {scores.late_chosen:7,} {scores.late_top1:7.1%}")


if __name__ == "__main__":
    sys.exit(main())
