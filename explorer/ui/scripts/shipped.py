"""Where the app's own files are."""

import sys
from importlib.util import find_spec
from pathlib import Path


def shipped(path):  # in this folder, or where the package is installed
    package = Path(getattr(find_spec("explorer"), "origin", None) or "").parent
    found = [str(place / path) for place in (Path(), package, package.parent) if (place / path).exists()]
    return found[0] if found else sys.exit(f"There is no {path} here; put its full path into this script.")
