"""Data sets of the Hugging Face Hub, by name: the rows of one file, through the `datasets` library.

The library also opens local folders by name, and a data set's card may refer to any file or address. So it is given neither the
name nor the card, but the address of a file that the Hub lists in the repository, and a loader that runs no code.
"""

import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from huggingface_hub import HfApi
from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils import validate_repo_id

from explorer.core.errors import InputError, logger
from explorer.core.lazy import datasets
from explorer.core.limits import TEXTS
from explorer.text.tables import Table, table_of

EXAMPLE = "mteb/tweet_sentiment_extraction"
NO_NAME = f"That is not the name of a data set on the hub. Try {EXAMPLE}."
TIMEOUT = 10  # seconds in which the Hub must answer
OWN_PATH = re.compile(r"(?![/~])(?!(.*/)?\.\.(/|$))[^:\\*?\[\]]*")  # below the repository's own folder; no address, no pattern
# The names of loaders by the endings of files, the surest first.
LOADERS = {".parquet": "parquet", ".csv": "csv", ".tsv": "csv", ".jsonl": "json", ".json": "json", ".txt": "text"}


def fetch_data_set(name: object) -> Generator[str, None, Table]:
    """Stream the first rows of a file of a data set, if possible its training part; yields how far it is. Raises InputError."""
    name = name.strip() if isinstance(name, str) else ""
    try:
        validate_repo_id(name)
    except HFValidationError as error:
        raise InputError(NO_NAME) from error
    yield f"Asking the hub for {name}."
    rows = []
    try:
        file, stream = _open(name)
        for row in islice(stream, TEXTS.most):
            rows.append(row)
            if len(rows) % 250 == 0:
                yield f"{len(rows):,} rows of {name} so far, {len(rows) / TEXTS.most:.0%} of the most rows that are read."
    except Exception as error:  # the library, the network, the format and the data set raise all kinds of errors
        logger.warning("A data set of the hub could not be fetched.", exc_info=True)
        raise InputError(
            f"The data set {name} cannot be fetched: the hub does not answer or does not have it; "
            "download it as CSV and choose the file instead."
        ) from error
    if not rows:
        raise InputError(f"The data set {name} is empty. Try {EXAMPLE}.")
    return replace(table_of(rows), about=f"{len(rows):,} rows of {name}, file {file}.")


def _open(name: str) -> tuple[str, Iterator[dict[str, Any]]]:
    """The path and the rows of a file of a data set. Raises ValueError where none has rows, and whatever the libraries raise."""
    info = HfApi().dataset_info(name, timeout=TIMEOUT)
    path = _choose(file.rfilename for file in info.siblings or ())
    datasets.utils.logging.set_verbosity_error()
    address = f"hf://datasets/{info.id}@{info.sha}/{path}"
    tabs = {"sep": "\t"} if _ending(path) == ".tsv" else {}
    stream = datasets.load_dataset(LOADERS[_ending(path)], data_files=address, split="train", streaming=True, **tabs)
    if stream.features:  # a feature may declare that a cell is an image, and the cell which file to open
        stream = stream.decode(False)
    return path, iter(stream)


def _choose(paths: Iterable[str]) -> str:
    """The file of the training part, or else the first one with rows. Raises ValueError when there is none."""
    files = [path for path in paths if _ending(path) in LOADERS and OWN_PATH.fullmatch(path)]
    return min(files, key=lambda path: ("train" not in path.lower(), list(LOADERS).index(_ending(path)), path))


def _ending(path: str) -> str:
    return PurePosixPath(path).suffix.lower()
