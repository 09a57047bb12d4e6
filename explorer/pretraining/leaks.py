"""Which of our own test sentences a text gives away: `python -m explorer.pretraining.leaks FOLDER_OR_FILE ...`.

Training leaves out the lines that are counted here. A sentence that costs many lines should be reworded.
"""

import argparse
import sys
from collections import defaultdict
from pathlib import Path

from explorer.core.command import status
from explorer.pretraining.corpus import corpus_files, read_documents
from explorer.pretraining.overlap import own_runs


def main() -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser("python -m explorer.pretraining.overlap", description=__doc__)
    parser.add_argument("text", nargs="+", type=Path, help="text files, or folders of them without their subfolders")
    args = parser.parse_args()
    return status(lambda: _tell(args.text))


def _tell(places: list[Path]) -> None:
    """Print how many lines contain a run of each test sentence, most first, with one of these lines."""
    runs, held = own_runs(), defaultdict(list)
    for path in (file for place in places for file in corpus_files(place)):
        lines = [sentence for document in read_documents(path) for sentence in document]
        for line, sentence in runs.find_all(lines):
            held[sentence].append(lines[line])
    for sentence, lines in sorted(held.items(), key=lambda item: -len(item[1])):
        print(f"{len(lines):6,}  {runs.sentences[sentence]}\n        such as: {lines[0]}")
    print(f"{sum(map(len, held.values())):,} lines hold a run of {len(held)} of {len(runs.sentences)} sentences.")


if __name__ == "__main__":
    sys.exit(main())
