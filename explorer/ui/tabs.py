"""What a tab is: its question, and its choices with their views."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from explorer.ui.view import View

Cell = type[View] | Sequence[type[View]]  # a view, or several of them one below the other


def views_in(rows: Sequence[Sequence[Cell]]) -> list[type[View]]:
    """The views in some rows."""
    cells = [cell for row in rows for cell in row]
    return [view for cell in cells for view in ([cell] if isinstance(cell, type) else cell)]


@dataclass(frozen=True)
class Tab:
    """A tab: its question and its choices, each one a list of rows of views.

    `groups` names choices that follow each other, by the first of them. `above` stands over every choice, `note` below.
    `steppers` are the numbers of the selection that its pictures show ('layer', 'head' or 'hidden_state').
    """

    id: str
    label: str
    question: str
    choices: Mapping[str, Sequence[Sequence[Cell]]]
    needs: str | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    optional: bool = False  # hidden for models without what the tab needs
    above: Sequence[type[View]] = ()
    note: str = ""
    more: str = "More"  # the title of a choice's fold that holds several folds
    steppers: Sequence[str] = ()
    without_steppers: Sequence[str] = ()  # the choices without steppers

    @property
    def views(self) -> list[type[View]]:
        """All views of the tab, without duplicates."""
        return list(dict.fromkeys([*self.above, *(view for rows in self.choices.values() for view in views_in(rows))]))
