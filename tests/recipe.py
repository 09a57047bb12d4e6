"""The recipe of the bundled model, which lies beside the model and is no package: `from tests.recipe import batches, text`."""

import importlib
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "assets" / "models" / "bert-l6-h384-uncased" / "recipe"

sys.path.insert(0, str(FOLDER))
try:
    batches, evaluate, text, train = map(importlib.import_module, ("batches", "evaluate", "text", "train"))
finally:
    sys.path.remove(str(FOLDER))
