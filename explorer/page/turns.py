"""The fair queue for calls that use the model, with the page's patience."""

from explorer.core.fair_queue import FairQueue

PATIENCE = 3.0  # seconds of waiting before the position in the queue is shown, and between two updates of it


class Turns(FairQueue):
    """The fair queue of one app."""

    @property
    def patience(self) -> float:
        """Seconds to wait before the position is shown."""
        return PATIENCE
