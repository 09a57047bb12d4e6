"""Pre-train a BERT: `python -m explorer.pretraining --corpus FOLDER --init FOLDER --out FOLDER --minutes 60`."""

import argparse
import signal
import sys
from dataclasses import fields
from pathlib import Path

import torch
from transformers import BertConfig, BertForPreTraining

from explorer.base.errors import InputError
from explorer.pretraining import scoring
from explorer.pretraining.batches import BatchStream, Mixture, Vocabulary
from explorer.pretraining.command import status
from explorer.pretraining.corpus import load_corpus, load_file
from explorer.pretraining.host import keep_freed_memory
from explorer.pretraining.saving import export, open_model, open_tokenizer
from explorer.pretraining.scoring import Scores
from explorer.pretraining.settings import Settings
from explorer.pretraining.teacher import Teacher
from explorer.pretraining.training import Trainer


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser("python -m explorer.pretraining", description=__doc__)
    add = parser.add_argument
    add("--corpus", type=Path, required=True, help="folder of .txt or .txt.xz, a sentence a line")
    add("--heldout", type=Path, help="a text file to score on (default: heldout.txt.xz of the corpus, if there)")
    add("--init", required=True, help="checkpoint folder to start from, or none for fresh weights")
    add("--tokenizer", type=Path, help="folder with the tokenizer (default: that of --init)")
    add("--teacher", help="sentence encoder to keep the similarities of: a folder or hub id (default: none)")
    add("--teacher-weight", type=float, help="what the teacher counts beside the other losses (default %(default)s)")
    add("--out", type=Path, required=True, help="checkpoints, log.csv and the finished model; a run there is resumed")
    add("--steps", type=int, help="length of the whole run in optimizer steps")
    add("--minutes", type=float, help="length of the whole run in minutes, over all legs")
    add("--batch", type=int, help="pieces in a batch (default %(default)s, that is 32 × 128; on a GPU 32768)")
    add("--rate", type=float, dest="peak_rate", metavar="RATE", help="peak learning rate (default %(default)s)")
    add("--warmup", type=int, help="steps of warm-up (default %(default)s)")
    add("--first-mask-rate", type=float, help="share of pieces chosen at the start; 0.15 at the end")
    add("--repeat", action="append", default=[], metavar="NAME=N", help="read files whose name begins so N times")
    add("--seed", type=int)
    add("--threads", type=int, help="CPU threads (default: all cores)")
    add("--save-minutes", type=float)
    add("--eval-minutes", type=float)
    parser.set_defaults(batch=Mixture.pieces, **{field.name: field.default for field in fields(Settings)})
    return parser


def initial_model(init: str, vocabulary_size: int) -> BertForPreTraining:
    """The model to train: a checkpoint's weights, or fresh ones of the bundled model's size.

    Dropout is off: a model this small does not overfit a text that it reads a few times.
    """
    # On the CPU the fused attention's backward pass is slower than matrix products: measured 3,370 against 4,190
    # pieces a second at 32 × 128.
    attention = "sdpa" if torch.cuda.is_available() else "eager"
    if init == "none":
        config = BertConfig(vocab_size=vocabulary_size, hidden_size=384, num_hidden_layers=6, intermediate_size=1536)
        model = BertForPreTraining(config)
        model.set_attn_implementation(attention)
    else:
        model = open_model(init, attention)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    return model.to("cuda" if torch.cuda.is_available() else "cpu")


def run(args: argparse.Namespace) -> None:
    """Load, train, export."""
    if args.init == "none" and args.tokenizer is None:
        raise InputError("Fresh weights need --tokenizer, a folder with the tokenizer files.")
    tokenizer = open_tokenizer(args.tokenizer or args.init)
    repeats = {name: int(times) for name, _, times in (item.partition("=") for item in args.repeat)}
    corpus = load_corpus(args.corpus, tokenizer, args.out / "tokens", repeats)
    vocabulary = Vocabulary.of(tokenizer)
    torch.manual_seed(args.seed)
    model = initial_model(args.init, len(tokenizer))
    heldout_file = args.heldout or args.corpus / "heldout.txt.xz"
    evaluate = None
    if heldout_file.exists():
        heldout = load_file(heldout_file, tokenizer, args.out / "tokens")

        def evaluate(model: BertForPreTraining) -> Scores:
            return scoring.score(model, scoring.pair_batches(heldout, vocabulary, 256, 128, seed=1))

    settings = Settings(**{field.name: getattr(args, field.name) for field in fields(Settings)})
    stream = BatchStream(corpus, vocabulary, Mixture(pieces=args.batch), args.seed)
    teacher = Teacher(args.teacher, model.device) if args.teacher else None
    trainer = Trainer(model, stream, settings, args.out, evaluate, teacher)
    for interruption in (signal.SIGINT, signal.SIGTERM):
        signal.signal(interruption, trainer.stop)
    trainer.run()
    export(args.out / "model", model, tokenizer)


def main() -> int:
    """Run the command line; returns the exit status."""
    args = arguments().parse_args()
    keep_freed_memory()
    if args.threads:
        torch.set_num_threads(args.threads)
    return status(lambda: run(args))


if __name__ == "__main__":
    sys.exit(main())
