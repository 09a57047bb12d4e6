"""Where the files are that the app ships with."""

from pathlib import Path
from typing import Final

ASSETS: Final = Path(__file__).resolve().parents[2] / "assets"
EXAMPLES: Final = ASSETS / "examples"
