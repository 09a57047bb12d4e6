"""The Python export of a place: a script for each of its views that has one."""

from explorer.bert.provenance import provenance_of, told
from explorer.core.errors import InputError
from explorer.export import code
from explorer.export.place import Place

NOTHING = "There is nothing to be computed here; open a view that shows numbers, and its Python comes with it."
LINE = "\n# " + "-" * 78 + "\n\n"


def scripts_of(place: Place) -> list[str]:
    """The scripts of its views that have one."""
    return [script for view in place.views if (script := code.of(view, place.subject))]


def python(place: Place) -> bytes:
    """The scripts one after another, in UTF-8. Raises InputError with the reason if no view has one."""
    if not (scripts := scripts_of(place)):
        raise InputError(next((code.WITHOUT[view.name] for view in place.views if view.name in code.WITHOUT), NOTHING))
    return f"{LINE.join(scripts)}\n# {told(provenance_of(place.subject.model))}\n".encode()
