"""The one logger of the app. What it is told holds no text that somebody typed: logs are read by others."""

import logging
from typing import Final

logger: Final = logging.getLogger("explorer")
