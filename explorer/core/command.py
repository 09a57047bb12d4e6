"""What the command-line programs share."""

import sys
from collections.abc import Callable

from explorer.core.errors import ExplorerError


def status(run: Callable[[], None]) -> int:
    """Run a command. Returns its exit status: 2, with one sentence on standard error, for an ExplorerError."""
    try:
        run()
    except ExplorerError as error:
        print(error, file=sys.stderr)
        return 2
    return 0
