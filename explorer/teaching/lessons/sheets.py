"""Hand-outs and teacher's sheets to print: `python -m explorer.teaching.lessons.sheets OUT --address https://name.hf.space/`."""

import argparse
import sys
from pathlib import Path

from explorer.core.errors import ExplorerError, InputError
from explorer.teaching.lessons.lesson import ENGLISH
from explorer.teaching.lessons.printing import HERE, checked, files
from explorer.teaching.lessons.reading import lessons


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser("python -m explorer.teaching.lessons.sheets", description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT", help="folder for the pages, made if it is not there")
    parser.add_argument("--address", default=HERE, help="where phones reach the app; the codes lead there (default %(default)s)")
    parser.add_argument("--language", default=ENGLISH, help="the language of the lessons (default %(default)s)")
    return parser


def write(out: Path, address: str, language: str = ENGLISH) -> None:
    """Write all sheets into a folder. Raises InputError."""
    made = files(lessons(language), checked(address))
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, page in made.items():
            (out / name).write_text(page, "utf-8")
    except OSError as error:
        raise InputError(f"The sheets cannot be written to {out}: {error.strerror}.") from error
    print(f"{len(made)} pages; open {out / 'index.html'}.")


def main() -> int:
    """Run the command line; returns the exit status."""
    args = arguments().parse_args()
    try:
        write(args.out, args.address, args.language)
    except ExplorerError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
