"""The paths of the files that come with the app."""

from pathlib import Path
from typing import Final

_PACKAGE = Path(__file__).resolve().parents[1]
_CHECKOUT = _PACKAGE.parent
IS_INSTALLED: Final = not (_CHECKOUT / "assets" / "models").is_dir()
ASSETS: Final = (_PACKAGE if IS_INSTALLED else _CHECKOUT) / "assets"  # inside the package when it was installed from a wheel
EXAMPLES: Final = ASSETS / "examples"
EXPERIMENTS: Final = ASSETS / "experiments"
SUITES: Final = ASSETS / "suites"
# Beside the app; what was installed may be replaced as a whole.
RUNS: Final = (Path.home() / ".cache" / "bert-explorer" if IS_INSTALLED else _CHECKOUT) / "runs"
