"""Everything that can go wrong on purpose: one tree, one plain sentence each.

ExplorerError
├── InputError        what was typed or sent cannot be used; the sentence says what to do
├── CapabilityError   the model was not trained for what was asked of it
└── ModelError        a checkpoint could not be found, fetched or read
"""


class ExplorerError(Exception):
    """Base of all errors of ours; `str(error)` is one sentence fit for a person to read."""


class InputError(ExplorerError):
    """What was typed or sent cannot be used."""


class CapabilityError(ExplorerError):
    """The model has no part that does what was asked."""


class ModelError(ExplorerError):
    """A checkpoint could not be found, fetched or read."""
