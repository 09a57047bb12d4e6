"""The fair queue of the calls that ask a model, as the page tells of it."""

from explorer.base.fair_queue import FairQueue

PATIENCE = 3.0  # seconds of waiting until a person reads the position in the queue, and between two times


class Turns(FairQueue):
    """The queue of one app."""

    @property
    def patience(self) -> float:
        """How long to wait before a person is told."""
        return PATIENCE
