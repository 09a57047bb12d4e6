"""Average checkpoints: `python -m explorer.pretraining.average --out FOLDER 0.5:FOLDER 0.5:FOLDER`.

Checkpoints trained further from the same start lie in one valley of the loss, and their mean is often better than each of them:
model soups (Wortsman et al. 2022). It costs no training. `--follows` then shifts the threshold of the next-sentence head.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from explorer.core.command import status
from explorer.core.engine import torch, transformers
from explorer.core.errors import InputError, ModelError
from explorer.pretraining.sampling import IS_NEXT
from explorer.pretraining.saving import export, open_model, open_tokenizer


def average(folders: Sequence[str | Path], shares: Sequence[float], follows: float = 0.0) -> transformers.BertForPreTraining:
    """The weighted mean of the weights in float32; the shares are divided by their sum. `follows` is added to the bias of IsNext.

    Raises InputError for shares that are not above 0, ModelError for checkpoints of another shape than the first.
    """
    if not folders or len(folders) != len(shares) or min(shares) <= 0:
        raise InputError("Averaging needs one checkpoint or more, each with a share above 0.")
    mean, *others = map(open_model, folders)
    parts = [model.state_dict() for model in (mean, *others)]
    sizes = [{name: value.shape for name, value in part.items()} for part in parts]
    if odd := [folder for folder, size in zip(folders, sizes, strict=True) if size != sizes[0]]:
        raise ModelError(f"{odd[0]} is of another size than {folders[0]}, so they have no average.")
    weighted = [(share / sum(shares), part) for share, part in zip(shares, parts, strict=True)]
    mean.load_state_dict({name: sum(weight * part[name] for weight, part in weighted) for name in parts[0]})
    with torch.no_grad():
        mean.cls.seq_relationship.bias[IS_NEXT] += follows
    return mean


def _parsed(given: str) -> tuple[float, str]:
    share, colon, folder = given.partition(":")
    try:
        return (float(share), folder) if colon else (1.0, given)
    except ValueError:
        return 1.0, given


def main() -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser("python -m explorer.pretraining.average", description=__doc__)
    parser.add_argument("checkpoints", nargs="+", metavar="SHARE:FOLDER", help="the first one's tokenizer is kept")
    parser.add_argument("--follows", type=float, default=0.0, help="added to the logit of IsNext (default 0)")
    parser.add_argument("--out", type=Path, required=True, help="folder for the model, in half precision")
    args = parser.parse_args()
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    shares, folders = zip(*map(_parsed, args.checkpoints), strict=True)
    return status(lambda: export(args.out, average(folders, shares, args.follows), open_tokenizer(folders[0])))


if __name__ == "__main__":
    sys.exit(main())
