"""Twenty everyday blanks for a model card: `python -m explorer.pretraining.blanks FOLDER`.

The sentences and the words that count as sensible are in assets/examples/blanks.csv.
"""

import argparse
import csv
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from explorer import load
from explorer.base.paths import EXAMPLES
from explorer.model.explorer import Explorer
from explorer.model.network import Candidate
from explorer.pretraining.command import status


@dataclass(frozen=True)
class Filled:
    """One sentence with a blank, and the first five guesses of a model, best first."""

    kind: str
    sentence: str
    guesses: tuple[Candidate, ...]
    right: tuple[bool, ...]  # of each guess, whether it is one of the sensible words

    def row(self) -> str:
        """A line of a Markdown table: sensible words in bold, each with its probability in per cent."""
        shown = (
            f"{f'**{guess.token}**' if right else guess.token} {100 * guess.probability:.0f}"
            for guess, right in zip(self.guesses, self.right, strict=True)
        )
        return f"| {self.kind} | {self.sentence} | {', '.join(shown)} | {'yes' if any(self.right) else 'no'} |"


def fill(model: Explorer) -> Iterator[Filled]:
    """What the model puts into every blank. Raises CapabilityError without a masked-LM head."""
    with (EXAMPLES / "blanks.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            guesses = model.fill_mask(line["sentence"], top_k=5)[0].candidates
            right = tuple(guess.token in line["sensible"].split() for guess in guesses)
            yield Filled(line["kind"], line["sentence"], guesses, right)


def main() -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser("python -m explorer.pretraining.blanks", description=__doc__)
    parser.add_argument("folder", nargs="?", help="checkpoint folder or hub name (default: the bundled model)")
    args = parser.parse_args()
    return status(lambda: _print_table(list(fill(load(args.folder)))))


def _print_table(filled: list[Filled]) -> None:
    print("| | sentence | first five guesses | sensible |\n|---|---|---|---|")
    print("\n".join(line.row() for line in filled))
    among, first = sum(any(line.right) for line in filled), sum(line.right[0] for line in filled)
    print(f"\nA sensible word among the five in {among} of {len(filled)}, in first place in {first}.")


if __name__ == "__main__":
    sys.exit(main())
