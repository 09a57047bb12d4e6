"""The program of the routes by which information reaches a position."""

from explorer.overview.routes import Routes
from explorer.overview.run import selected_run
from explorer.ui.programs import Values, programs
from explorer.ui.subject import Subject


def routes(view: Routes, subject: Subject) -> Values:
    """The place whose routes are followed; not where the run is changed."""
    if subject.selection.is_changed:
        return None
    followed = view._followed(subject, selected_run(subject))
    return {"state": len(followed.shares) - 1, "position": followed.position}


program = programs(__file__)
PROGRAMS = {"overview/routes": program("routes", "state", "opened", values=routes)}
