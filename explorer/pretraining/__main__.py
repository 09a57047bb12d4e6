"""Pre-train a BERT: `python -m explorer.pretraining --corpus FOLDER --init FOLDER --out FOLDER --minutes 60`."""

from __future__ import annotations

import argparse
import signal
import sys
from dataclasses import fields
from pathlib import Path

from explorer.core.command import status
from explorer.core.engine import torch, transformers
from explorer.core.errors import InputError
from explorer.pretraining import scoring
from explorer.pretraining.batches import Vocabulary
from explorer.pretraining.corpus import Corpus, load_corpus, load_file
from explorer.pretraining.host import keep_freed_memory
from explorer.pretraining.overlap import own_runs
from explorer.pretraining.saving import export, open_model, open_tokenizer
from explorer.pretraining.scoring import Scores
from explorer.pretraining.settings import Settings
from explorer.pretraining.stream import BatchStream, Mixture
from explorer.pretraining.teacher import Teacher
from explorer.pretraining.training import Trainer

MIXTURE = {
    "pairs": "batches of pairs of 128 pieces",
    "short_pairs": "batches of pairs of two sentences",
    "singles": "batches of single sentences; a text without pairs gives nothing else",
    "long_pairs": "batches of pairs of 512 pieces",
    "packs": "batches of running text of 512 pieces",
    "near": "of the strangers in pairs, those from the same document",
    "foreign": "of the other strangers, those from any of the texts",
    "unfinished": "of the batches of single sentences and short pairs, those without the mark at the end",
    "very_short": "of the batches of single sentences, those of ten pieces or fewer",
    "one_blank": "of the batches of single sentences, those in which one word of content is masked in each",
    "whole_words": "batches in which whole words are masked",
    "every_place": "batches in which a masked word of content is masked wherever it stands",
}


def arguments() -> argparse.ArgumentParser:
    """The parser of the command line."""
    parser = argparse.ArgumentParser("python -m explorer.pretraining", description=__doc__)
    add = parser.add_argument
    add("--corpus", type=Path, required=True, help="folder of .txt or .txt.xz, a sentence a line")
    add("--also", action="append", default=[], metavar="SHARE:PATH", help="draw this share of the batches from another text")
    add("--alone", action="append", default=[], metavar="SHARE:PATH", help="the same, of sentences by themselves")
    add("--heldout", type=Path, help="a text file to score on (default: heldout.txt.xz of the corpus, if there)")
    add("--init", required=True, help="checkpoint folder to start from, or none for fresh weights")
    add("--tokenizer", type=Path, help="folder with the tokenizer (default: that of --init)")
    add("--teacher", help="sentence encoder to keep the similarities of: a folder or hub id (default: none)")
    add("--teacher-weight", type=float, help="what the teacher counts beside the other losses (default %(default)s)")
    add("--cache", type=Path, help="folder for the tokenised text, which runs can share (default: tokens in --out)")
    add("--dropout", type=float, default=0.0, help="share of the hidden values left out; for many passes over the same text")
    add("--copy-weight", type=float, help="what copying in short inputs counts beside the other losses (default %(default)s)")
    add("--out", type=Path, required=True, help="checkpoints, log.csv and the finished model; a run there is resumed")
    add("--steps", type=int, help="length of the whole run in optimizer steps")
    add("--minutes", type=float, help="length of the whole run in minutes, over all legs")
    add("--batch", type=int, help="pieces in a batch (default %(default)s, that is 32 × 128; on a GPU 32768)")
    add("--rate", type=float, dest="peak_rate", metavar="RATE", help="peak learning rate (default %(default)s)")
    add("--warmup", type=int, help="steps of warm-up (default %(default)s)")
    add("--decay", type=float, help="last share of the run in which the rate falls to zero (default %(default)s)")
    add("--average", type=float, metavar="KEEP", help="keep a running mean of the weights too, say 0.999 (default: none)")
    add("--workers", type=int, help="processes that make batches ahead, for a GPU (default %(default)s)")
    add("--first-mask-rate", type=float, help="share of pieces chosen at the start; 0.15 at the end")
    mix = parser.add_argument_group("what the batches are, in shares 0..1")
    for name, meaning in MIXTURE.items():
        mix.add_argument(f"--{name.replace('_', '-')}", type=float, metavar="SHARE", help=f"{meaning} (default %(default)s)")
    add("--repeat", action="append", default=[], metavar="NAME=N", help="read files whose name begins so N times")
    add("--seed", type=int)
    add("--threads", type=int, help="CPU threads (default: all cores)")
    add("--save-minutes", type=float)
    add("--eval-minutes", type=float)
    parser.set_defaults(batch=Mixture.pieces, **{name: getattr(Mixture, name) for name in MIXTURE})
    parser.set_defaults(**{field.name: field.default for field in fields(Settings)})
    return parser


def initial_model(init: str, vocabulary_size: int, dropout: float) -> transformers.BertForPreTraining:
    """The model to train: a checkpoint's weights, or new ones of the bundled model's size.

    A model this small does not overfit a text that it reads a few times, so it learns faster without `dropout`.
    """
    # On the CPU the backward pass of fused attention is slower than matrix products: 3,370 against 4,190 pieces a second at 32 ×
    # 128.
    attention = "sdpa" if torch.cuda.is_available() else "eager"
    if init == "none":
        config = transformers.BertConfig(vocab_size=vocabulary_size, hidden_size=384, num_hidden_layers=6, intermediate_size=1536)
        model = transformers.BertForPreTraining(config)
        model.set_attn_implementation(attention)
    else:
        model = open_model(init, attention)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = dropout
    return model.to("cuda" if torch.cuda.is_available() else "cpu")


def read_texts(args: argparse.Namespace, tokenizer: transformers.PreTrainedTokenizerBase) -> list[tuple[float, Corpus]]:
    """The text and the others that are mixed in, with their shares; the first one gets the rest.

    Lines that give away one of our own test sentences are left out. Raises InputError when the shares leave nothing for it.
    """
    repeats = {name: int(times) for name, _, times in (item.partition("=") for item in args.repeat)}
    try:
        others = [(float(share), Path(path)) for share, _, path in (item.partition(":") for item in [*args.also, *args.alone])]
    except ValueError as error:
        raise InputError("--also and --alone need a share and a path, as in 0.2:FOLDER.") from error
    left = 1.0 - sum(share for share, _ in others)
    if left <= 0:
        raise InputError(f"The shares of the other texts sum to {1 - left:g}, which leaves nothing for --corpus.")
    runs = own_runs()
    texts = [
        (share, load_corpus(path, tokenizer, args.cache or args.out / "tokens", repeats, runs))
        for share, path in [(left, args.corpus), *others]
    ]
    paired = 1 + len(args.also)
    return texts[:paired] + [(share, corpus.alone()) for share, corpus in texts[paired:]]


def run(args: argparse.Namespace) -> None:
    """Load, train, export."""
    if args.init == "none" and args.tokenizer is None:
        raise InputError("Fresh weights need --tokenizer, a folder with the tokenizer files.")
    tokenizer = open_tokenizer(args.tokenizer or args.init)
    texts = read_texts(args, tokenizer)
    vocabulary = Vocabulary.of(tokenizer)
    torch.manual_seed(args.seed)
    model = initial_model(args.init, len(tokenizer), args.dropout)
    heldout_file = args.heldout or args.corpus / "heldout.txt.xz"
    evaluate = None
    if heldout_file.exists():
        heldout = load_file(heldout_file, tokenizer, args.cache or args.out / "tokens")

        def evaluate(model: transformers.BertForPreTraining) -> Scores:
            return scoring.score(model, scoring.pair_batches(heldout, vocabulary, 256, 128, seed=1))

    settings = Settings(**{field.name: getattr(args, field.name) for field in fields(Settings)})
    mixture = Mixture(pieces=args.batch, **{name: getattr(args, name) for name in MIXTURE})
    stream = BatchStream(texts, vocabulary, mixture, args.seed)
    teacher = Teacher(args.teacher, model.device) if args.teacher else None
    trainer = Trainer(model, stream, settings, args.out, evaluate, teacher)
    for interruption in (signal.SIGINT, signal.SIGTERM):
        signal.signal(interruption, trainer.stop)
    trainer.run()
    export(args.out / "model", model, tokenizer)
    if trainer.mean:
        trainer.mean.exchange(model)
        export(args.out / "mean", model, tokenizer)


def main() -> int:
    """Run the command line; returns the exit status."""
    args = arguments().parse_args()
    keep_freed_memory()
    if args.threads:
        torch.set_num_threads(args.threads)
    return status(lambda: run(args))


if __name__ == "__main__":
    sys.exit(main())
