"""Everything that can go wrong on purpose: one tree, one plain sentence each."""


class ExplorerError(Exception):
    """Base of all errors of ours; `str(error)` is one sentence fit for a person to read."""


class InputError(ExplorerError):
    """What was typed or sent cannot be used; the sentence says what to do."""


class CapabilityError(ExplorerError):
    """The model was not trained for what was asked of it."""


class ModelError(ExplorerError):
    """A checkpoint could not be found, fetched or read."""


class BusyError(ExplorerError):
    """There is no place for more work just now; the sentence says when to try again."""
