"""Data sets of the Hugging Face hub, by name, through the `datasets` library.

The library opens what it takes a name for: a folder of this machine, or, where the card of a data set says so, any file and
any address. So a name is made one of the hub before the library sees it, and a card may speak of its own repository only.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import yaml
from huggingface_hub import DatasetCard, HfApi, hf_hub_download
from huggingface_hub.errors import EntryNotFoundError, HFValidationError
from huggingface_hub.utils import validate_repo_id

from explorer.base.errors import InputError
from explorer.base.lazy import datasets
from explorer.base.limits import COLUMNS, TEXTS
from explorer.base.log import logger
from explorer.text.tables import Table, text_of

EXAMPLE = "mteb/tweet_sentiment_extraction"
NO_NAME = f"That is not the name of a data set on the hub; try {EXAMPLE}."
TIMEOUT = 10  # seconds for the hub to say what it holds
CARDS = ("README.md", ".huggingface.yaml")  # where a data set may say which files it is made of
OWN_PATH = re.compile(r"(?![/~])(?!(.*/)?\.\.(/|$))[^:\\]*")  # below its own folder, and no address
BUILDERS = {"csv", "json", "parquet", "arrow", "text", "conll"}  # that read rows of text and numbers, and run nothing


def fetch_data_set(name: object, report: Callable[[float, str], None] = lambda share, what: None) -> Table:
    """The first rows of the training part of a data set, streamed. Raises InputError when it cannot be had."""
    name = _checked(name)
    report(0, f"asking the hub for {name}")
    rows = []
    try:
        part, stream = _opened(name)
        for row in islice(stream, TEXTS.most):
            rows.append(row)
            if len(rows) % 250 == 0:
                report(len(rows) / TEXTS.most, f"{len(rows):,} rows of {name}")
    except Exception as error:  # the library raises whatever the network, the format and the data set bring about
        logger.warning("A data set of the hub could not be fetched.", exc_info=True)
        raise InputError(
            f"The data set {name} cannot be fetched: the hub does not answer or does not have it; "
            "download it as CSV and choose the file instead."
        ) from error
    if not rows:
        raise InputError(f"The data set {name} is empty; try {EXAMPLE}.")
    columns = tuple(str(column) for column in rows[0])[: COLUMNS.most]
    cells = tuple(tuple(text_of(row.get(column)) for column in columns) for row in rows)
    return Table(columns, cells, f"{len(rows):,} rows of {name}, part {part}.")


def _checked(name: object) -> str:
    """A name as the hub gives them. Raises InputError."""
    given = name.strip() if isinstance(name, str) else ""
    try:
        validate_repo_id(given)
    except HFValidationError as error:
        raise InputError(NO_NAME) from error
    return given


def _opened(name: str) -> tuple[str, Iterator[dict[str, Any]]]:
    """The name and the rows of the training part, or of the first. Raises whatever goes wrong, ValueError for what is not
    to be read.
    """
    info = HfApi().dataset_info(name, timeout=TIMEOUT)
    if info.id.count("/") != 1:  # what has no owner may be a format to the library, which then reads the folder it is in
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
    if stream.features:  # one may say that a cell is a picture, and the cell which file to open for it
        stream = stream.decode(False)
    return part, iter(stream)


def _check_cards(name: str, commit: str) -> None:
    """Raises ValueError when a data set says that it is made of files that are not its own."""
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
    """Every path that a card names, wherever it stands among its configurations."""
    waiting = [found.get(key) for found in card.get("configs") or () for key in ("data_files", "data_dir")]
    while waiting:
        found = waiting.pop()
        if isinstance(found, str):
            yield found
        elif isinstance(found, dict | list):
            waiting.extend(found.values() if isinstance(found, dict) else found)
