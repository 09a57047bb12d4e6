"""Whom to cite: the app, the model, and the papers that views name."""

import re
import sys
from collections.abc import Iterable, Sequence

from explorer.bert.checkpoints import BUNDLED
from explorer.bert.network import Network
from explorer.bert.provenance import own_version
from explorer.core.paths import ASSETS
from explorer.ui.view import View

APP = (
    "The authors of BERT Explorer. BERT Explorer: see and test what BERT does, layer by layer. Version {version}, 2026. Software."
)
"""The app, as CITATION.cff has it."""

PAPERS = dict(line.split("\t") for line in (ASSETS / "papers.tsv").read_text("utf-8").splitlines())
"""The reference of each paper, by author and year."""


def named_in(texts: Iterable[str]) -> list[str]:
    """The references of the papers that texts name by author and year, without duplicates."""
    whole = re.sub(r"[\s(),]+", " ", " ".join(texts))
    return [reference for name, reference in PAPERS.items() if name in whole]


def cite(views: Sequence[View], model: Network) -> list[str]:
    """The app, the model, and the papers named in the docstrings, captions and notes of views."""
    is_own = model.name == BUNDLED
    read = f"the small BERT that BERT Explorer ships with, {model.name}" if is_own else f"{model.name}, as its model card says"
    told = [str(part.options.get("markdown", "")) for view in views for part in view.parts.values()]
    told += [text or "" for view in views for text in (type(view).__doc__, sys.modules[type(view).__module__].__doc__)]
    return [APP.format(version=own_version()), read, *dict.fromkeys([PAPERS["Devlin et al. 2019"], *named_in(told)])]
