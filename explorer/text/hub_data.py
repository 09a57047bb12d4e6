"""Data sets of the Hugging Face Hub, by name, through the `datasets` library.

The library also opens local folders by name, and a data set's card may refer to any file or address. So only names that exist on
the Hub reach the library, and a card may refer to its own repository only.
"""

import re
from collections.abc import Generator, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import yaml
from huggingface_hub import DatasetCard, HfApi, hf_hub_download
from huggingface_hub.errors import EntryNotFoundError, HFValidationError
from huggingface_hub.utils import validate_repo_id

from explorer.core.errors import InputError, logger
from explorer.core.lazy import datasets
from explorer.core.limits import COLUMNS, TEXTS
from explorer.text.json_tables import text_of
from explorer.text.tables import Table

EXAMPLE = "mteb/tweet_sentiment_extraction"
NO_NAME = f"That is not the name of a data set on the hub. Try {EXAMPLE}."
TIMEOUT = 10  # seconds in which the Hub must answer
CARDS = ("README.md", ".huggingface.yaml")  # files in which a data set may list what it consists of
OWN_PATH = re.compile(r"(?![/~])(?!(.*/)?\.\.(/|$))[^:\\]*")  # a path below the repository's own folder, not an address
BUILDERS = {"csv", "json", "parquet", "arrow", "text", "conll"}  # loaders that read rows of text and numbers, and run no code


def fetch_data_set(name: object) -> Generator[str, None, Table]:
    """Stream the first rows of the training part of a data set; yields how far it is.

    Raises InputError when it cannot be fetched.
    """
    name = name.strip() if isinstance(name, str) else ""
    try:
        validate_repo_id(name)
    except HFValidationError as error:
        raise InputError(NO_NAME) from error
    yield f"Asking the hub for {name}."
    rows = []
    try:
        part, stream = _opened(name)
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
    columns = tuple(str(column) for column in rows[0])[: COLUMNS.most]
    cells = tuple(tuple(text_of(row.get(column)) for column in columns) for row in rows)
    return Table(columns, cells, f"{len(rows):,} rows of {name}, part {part}.")


def _opened(name: str) -> tuple[str, Iterator[dict[str, Any]]]:
    """The name and the rows of the training part, or else of the first part.

    Raises ValueError for a data set that must not be read, and whatever the library raises.
    """
    info = HfApi().dataset_info(name, timeout=TIMEOUT)
    if info.id.count("/") != 1:  # without an owner, `datasets` may take the name for a format and read the local folder
        raise ValueError("a data set without an owner")
    validate_repo_id(info.id)
    _check_cards(info.id, str(info.sha))
    datasets.utils.logging.set_verbosity_error()
    builder = datasets.load_dataset_builder(f"hf://datasets/{info.id}", revision=info.sha)
    kind = type(builder).__module__.rpartition(".")[2]
    files = [str(file) for part in (builder.config.data_files or {}).values() for file in part]
    if kind not in BUILDERS or not all(file.startswith(f"hf://datasets/{info.id}@{info.sha}/") for file in files):
        raise ValueError(f"a data set of the kind {kind}, or with files of others")
    parts = builder.as_streaming_dataset()
    part = "train" if "train" in parts else next(iter(parts))
    stream = parts[part]
    if stream.features:  # a feature may declare that a cell is an image, and the cell which file to open
        stream = stream.decode(False)
    return part, iter(stream)


def _check_cards(name: str, commit: str) -> None:
    """Raise ValueError when a data set says that it consists of files that are not its own."""
    for card in CARDS:
        try:
            path = Path(hf_hub_download(name, card, repo_type="dataset", revision=commit))
        except EntryNotFoundError:
            continue
        told = DatasetCard.load(path).data.to_dict() if path.suffix == ".md" else yaml.safe_load(path.read_text("utf-8"))
        for place in _places_in(told or {}):
            if not OWN_PATH.fullmatch(place):
                raise ValueError("a data set made of other files than its own")


def _places_in(card: dict[str, Any]) -> Iterator[str]:
    """Every path in the configurations of a card."""
    waiting = [found.get(key) for found in card.get("configs") or () for key in ("data_files", "data_dir")]
    while waiting:
        found = waiting.pop()
        if isinstance(found, str):
            yield found
        elif isinstance(found, dict | list):
            waiting.extend(found.values() if isinstance(found, dict) else found)
