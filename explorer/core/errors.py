"""Expected errors: one class hierarchy, each message one plain sentence; and the logger, for the others."""

import logging
from typing import Final

logger: Final = logging.getLogger("explorer")
"""Never log what a user typed: other people read the logs."""


class ExplorerError(Exception):
    """Base of all our errors; `str(error)` is one sentence for users."""


class InputError(ExplorerError):
    """An input cannot be used; the sentence says what to do."""


class CapabilityError(ExplorerError):
    """The model lacks the head that is needed."""


class ModelError(ExplorerError):
    """A checkpoint was not found, or could not be downloaded or read."""


class BusyError(ExplorerError):
    """The app lacks capacity for more work; the sentence says when to try again."""
