"""The tab Overview: all of the model in one picture, with each part in more detail on a click."""

from explorer.overview.routes import PictureWhatIf, Routes
from explorer.overview.run import selected_run
from explorer.overview.trust import Trust
from explorer.ui.programs import Values, program
from explorer.ui.subject import Subject
from explorer.ui.tabs import Tab


def routes(view: Routes, subject: Subject) -> Values:
    """The place whose routes are followed; not where the run is changed."""
    if subject.selection.is_changed:
        return None
    followed = view._followed(subject, selected_run(subject))
    return {"state": len(followed.shares) - 1, "position": followed.position}


TAB = Tab(
    "overview",
    "Overview",
    "How does the sentence become an answer?",
    {"Routes": [[Routes], [PictureWhatIf], [Trust]]},
    programs={"overview/routes": program("routes", "state", "zoom", values=routes)},
)
