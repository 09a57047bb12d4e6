"""What the command lines share."""

import sys
from collections.abc import Callable

from explorer.base.errors import ExplorerError


def status(run: Callable[[], None]) -> int:
    """Run a command; its exit status is 2, with one sentence on standard error, if it raises an error of ours."""
    try:
        run()
    except ExplorerError as error:
        print(error, file=sys.stderr)
        return 2
    return 0
