"""Data sets of the Hugging Face hub, by name, through the `datasets` library."""

import re
from collections.abc import Callable
from itertools import islice

from explorer.base.errors import InputError
from explorer.base.lazy import datasets
from explorer.base.limits import COLUMNS, TEXTS
from explorer.base.log import logger
from explorer.text.tables import Table, text_of

EXAMPLE = "mteb/tweet_sentiment_extraction"


def fetch_data_set(name: object, report: Callable[[float, str], None] = lambda share, what: None) -> Table:
    """The first rows of the training part of a data set, streamed. Raises InputError when it cannot be had."""
    name = name.strip() if isinstance(name, str) else ""
    if not re.fullmatch(r"[\w.-]{1,96}(/[\w.-]{1,96})?", name):
        raise InputError(f"That is not the name of a data set on the hub; try {EXAMPLE}.")
    report(0, f"asking the hub for {name}")

    datasets.utils.logging.set_verbosity_error()
    rows = []
    try:
        parts = datasets.get_dataset_split_names(name)
        part = "train" if "train" in parts else parts[0]
        stream = datasets.load_dataset(name, split=part, streaming=True)
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
