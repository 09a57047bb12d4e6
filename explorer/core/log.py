"""The app's logger. Never log what a user typed: other people read the logs."""

import logging
from typing import Final

logger: Final = logging.getLogger("explorer")
