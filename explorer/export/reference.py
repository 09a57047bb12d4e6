"""The package's reference as HTML pages, from docstrings, the declarations of views, and CONTRIBUTING.

python -m explorer.export.reference FOLDER

The folder is self-contained: no font, script or picture is loaded from elsewhere. It needs pdoc, from tests/requirements.txt.
"""

import argparse
import contextlib
import importlib
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from types import ModuleType

from explorer.bert.explorer import load
from explorer.core.errors import ExplorerError, InputError
from explorer.core.lazy import pdoc
from explorer.export import code, page_file
from explorer.export.place import slug
from explorer.tabs import TABS, VIEWS
from explorer.ui.settings import Choice, Number, Setting
from explorer.ui.subject import Subject
from explorer.ui.view import View

MARK = re.compile(r'<a class="attribution".*?</a>', re.DOTALL)  # pdoc's, a link to another site
EXAMPLE = ("The capital of Japan is [MASK].", "It is a city of skyscrapers.")
FRAME = '<iframe src="{}" title="{}" loading="lazy" style="width: 100%; height: 34em; border: 0"></iframe>'
CONTRIBUTING = Path(__file__).resolve().parents[2] / "CONTRIBUTING.md"
NAMES = (
    "explorer",
    "explorer.bert.explorer",
    "explorer.bert.results",
    "explorer.bert.trace",
    "explorer.bert.network",
    "explorer.bert.parts",
    "explorer.bert.capabilities",
    "explorer.bert.features",
    "explorer.bert.families",
    "explorer.text.corpora",
    "explorer.text.encoding",
    "explorer.text.masking",
    "explorer.text.tables",
    "explorer.text.tagged",
    "explorer.techniques.ablation",
    "explorer.techniques.attribution",
    "explorer.techniques.filling",
    "explorer.techniques.inside",
    "explorer.techniques.lens",
    "explorer.fill_mask.compute",
    "explorer.techniques.own_head",
    "explorer.techniques.pseudo_likelihood",
    "explorer.techniques.targets",
    "explorer.analysis.attention",
    "explorer.analysis.contextuality",
    "explorer.analysis.entities",
    "explorer.analysis.evaluation",
    "explorer.analysis.head_metrics",
    "explorer.analysis.mapping",
    "explorer.analysis.projection",
    "explorer.attention.compute",
    "explorer.analysis.similarity",
    "explorer.model_card.compute.weights",
    "explorer.finetune.compute.baselines",
    "explorer.training.examples",
    "explorer.finetune.compute.finetune",
    "explorer.training.head",
    "explorer.training.probe",
    "explorer.finetune.compute.task",
    "explorer.finetune.compute.training",
    "explorer.training.tagging",
    "explorer.finetune.compute.predictor",
    "explorer.training.tag_probe",
    "explorer.corpus.compute.reading",
    "explorer.corpus.compute.search",
    "explorer.corpus.compute.atlas",
    "explorer.corpus.compute.atlas_file",
    "explorer.ui.view",
    "explorer.ui.long_view",
    "explorer.ui.layout",
    "explorer.ui.settings",
    "explorer.ui.subject",
    "explorer.experiments.compute.single",
    "explorer.experiments.compute.experiment",
    "explorer.experiments.compute.questions",
    "explorer.experiments.compute.file",
    "explorer.experiments.compute.summary",
    "explorer.export.links",
    "explorer.export.code",
    "explorer.export.viewed",
    "explorer.core.errors",
)
"""The documented modules, in the order of the data flow."""


def build(folder: Path, names: Sequence[str] = NAMES, drawn: Collection[str] = tuple(VIEWS)) -> None:
    """Write the reference of modules into a folder, with pictures of views. Raises InputError without pdoc."""
    try:
        pdoc.render.configure(docformat="markdown", footer_text="BERT Explorer", include_undocumented=False, show_source=False)
    except ImportError as error:
        raise InputError("The reference is made by pdoc; pip install -r tests/requirements.txt brings it.") from error
    pages = dict(_pages(names, dict(_draw(folder, drawn))))
    for name, page in pages.items():
        place = folder / f"{name.replace('.', '/')}.html"
        place.parent.mkdir(parents=True, exist_ok=True)
        made = pdoc.render.html_module(page, pages)
        place.write_text(MARK.sub("<small>built with pdoc</small>", made), "utf-8")
    (folder / "search.js").write_text(pdoc.render.search_index(pages), "utf-8")


def _draw(folder: Path, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Write the page of each view of the example. Yields (view name, address)."""
    subject = Subject.of(load().trace(*EXAMPLE))
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    for name in names:
        with contextlib.suppress(ExplorerError):  # the view shows nothing for this input
            address = f"pictures/{slug(name)}.html"
            (folder / address).write_text(page_file.html([VIEWS[name]()], subject), "utf-8", "backslashreplace")
            yield name, address


def _pages(names: Sequence[str], pictures: Mapping[str, str]) -> "Iterator[tuple[str, pdoc.doc.Module]]":
    """The pages by name: the modules, the views, and CONTRIBUTING."""
    for name in names:
        module = importlib.import_module(name)
        for member in getattr(module, "__all__", ()):
            vars(module).setdefault(member, getattr(module, member))  # pdoc does not see names that are loaded lazily
        yield name, pdoc.doc.Module(module)
    written = {"views": _views(pictures)} | ({"contributing": CONTRIBUTING.read_text("utf-8")} if CONTRIBUTING.is_file() else {})
    for name, text in ({"index": _index(names, written)} | written).items():
        yield name, pdoc.doc.Module(ModuleType(name, text))


def _index(names: Sequence[str], written: Iterable[str]) -> str:
    """The first page in Markdown: links, and a sentence for each module."""
    first = "\n".join(f"- [{name}]({name}.html)" for name in written)
    rows = [f"- `{name}`: {_sentence(name)}" for name in names]
    return "\n\n".join(["The reference of BERT Explorer's package.", first, "## Modules", "\n".join(rows)])


def _sentence(name: str) -> str:
    """The first line of a module's docstring."""
    return (importlib.import_module(name).__doc__ or "").strip().partition("\n")[0]


def _views(pictures: Mapping[str, str]) -> str:
    """All views in Markdown: question, description and settings."""
    parts = ["Every view by its name, with what it shows and what can be set. A link, an endpoint and a notebook name it so."]
    for tab in TABS:
        parts += [f"# {tab.label}: {tab.question}", *(_view(view, pictures.get(view.name)) for view in tab.views)]
    return "\n\n".join(parts)


def _view(view: type[View], picture: str | None) -> str:
    rows = [_row(name, setting, getattr(view, name, None)) for name, setting in view.settings.items() if setting.linked]
    table = ["| setting | default | what it may be | what it is |", "|---|---|---|---|", *rows] if rows else []
    without = [f"No Python: {code.WITHOUT[view.name]}"] if view.name in code.WITHOUT else []
    doc = (view.__doc__ or "").split("\n")[0]
    seen = [FRAME.format(picture, escape(view.question))] if picture else []
    return "\n\n".join([f"## `{view.name}` {view.question}", doc, *seen, "\n".join(table), *without])


def _row(name: str, setting: Setting, default: object) -> str:
    """A row of the table of settings; long defaults are cut."""
    if isinstance(setting, Choice):
        may = ", ".join(f"`{value}`" for value in setting.values) or "a text"
    elif isinstance(setting, Number):
        low, high = ("of the model" if callable(bound) else f"{bound:g}" for bound in (setting.low, setting.high))
        may = f"{low} to {high}"
    else:
        may = type(setting).__name__.lower()
    shown = repr(default)
    shown = shown if len(shown) <= 40 else f"{shown[:40]}…"
    return f"| `{name}` | `{shown.replace('|', '¦')}` | {may.replace('|', '¦')} | {setting.label.replace('|', '¦')} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Build it where the command line says."""
    parser = argparse.ArgumentParser(description="Write the reference of BERT Explorer's package.")
    parser.add_argument("folder", type=Path, help="where to; index.html is its first page")
    try:
        build(parser.parse_args(arguments).folder)
    except ExplorerError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
