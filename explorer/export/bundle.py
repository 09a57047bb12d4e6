"""The zip export: a view's page and data, its settings, the check against the model, and what to cite."""

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

from explorer.bert import checkpoints
from explorer.bert.provenance import own_version, provenance_of, weights_hash
from explorer.export import papers
from explorer.export.contents import shown
from explorer.export.links import query
from explorer.export.place import Place
from explorer.ui.subject import Subject
from explorer.ui.view import View

FIXED = (1980, 1, 1, 0, 0, 0)  # a fixed date, so that the same view makes the same file


def zipped(place: Place, files: Mapping[str, bytes]) -> bytes:
    """The zip of `files` (by name) with settings, checks and citation. Raises ExplorerError."""
    made = [shown(view, place.subject) for view in place.views]
    told = {
        "settings.json": json.dumps(settings(place, made), ensure_ascii=False, indent=2) + "\n",
        "check.txt": "\n".join(checks(made)) + "\n",
        "CITATION.txt": citation(place.views, place.subject),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        every: dict[str, bytes | str] = {**files, **told}
        for name, content in every.items():
            archive.writestr(zipfile.ZipInfo(name, FIXED), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def settings(place: Place, made: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What reproduces the view: the link's query, the texts, and every setting of every view, and how it was made."""
    subject = place.subject
    chosen = {"model": subject.model_name, "text_a": subject.text_a, "text_b": subject.text_b, "link": query(place)}
    views = {one["name"]: one["settings"] for one in made}
    return {**chosen, "views": views, "provenance": provenance_of(subject.model)}


def checks(made: Sequence[Mapping[str, Any]]) -> list[str]:
    """The result of each view's check."""
    found = [(one["name"], part["value"]) for one in made for part in one["parts"] if part["kind"] == "check"]
    lines = [f"{name}: {value['text'] if isinstance(value, Mapping) else value}" for name, value in found]
    return lines or ["What is shown is the model's own, with nothing derived that would have to be checked."]


def citation(views: Sequence[View], subject: Subject) -> str:
    """What to cite: the app, the model, and the papers that the views name."""
    named = list(dict.fromkeys(reference for view in views for reference in papers.of(view)))
    model = subject.model
    bert = papers.PAPERS["Devlin et al. 2019"]
    bundled = model.name == checkpoints.BUNDLED
    own = "the small BERT that BERT Explorer ships with" if bundled else f"{model.name}, as its model card says"
    weights = f" (SHA-256 of its weights: {weights_hash(model.checkpoint)})"
    lines = [
        "If this helped you in something you publish, cite",
        "",
        f"the app: {papers.APP.format(version=own_version())}",
        f"the model: {own}{weights}; BERT itself is {bert}",
        *(["the techniques:", *(f"  {reference}" for reference in named if reference != bert)] if set(named) - {bert} else []),
    ]
    return "\n".join(lines) + "\n"
