"""What a tab is: its question, and its choices with their views."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from explorer.ui.programs import Program
from explorer.ui.view import View

Cell = type[View] | Sequence[type[View]]  # a view, or several of them one below the other


def views_in(rows: Sequence[Sequence[Cell]]) -> list[type[View]]:
    cells = [cell for row in rows for cell in row]
    return [view for cell in cells for view in ([cell] if isinstance(cell, type) else cell)]


@dataclass(frozen=True)
class Moved:
    """Where a choice went that older links name."""

    told: str  # a sentence for the person who followed such a link; "" where nothing is missing
    tab: str  # its id
    view: str = ""  # the choice, as links have it; "" for the tab's first
    settings: Mapping[str, str] = field(default_factory=dict)  # as links write them, unless the link sets them itself


@dataclass(frozen=True)
class Tab:
    """A tab: its question and its choices, each one a list of rows of views.

    The first `in_sight` choices are beside the question of the open one, the rest behind *More*.
    `above` is over every choice, `note` below. Where the two texts are not read (`reads_texts`), they shrink to a quiet line.
    `shared` are lines of the settings that several choices read: above the choices where these are read instead of the two texts,
    else below. `moved` says where choices went that older links name, by the name that the links have.
    `programs` says, by the names of views, which program computes what they show: of several, the first that fits.
    `steppers` are the numbers of the selection that its pictures show ('layer', 'head' or 'hidden_state').
    """

    id: str
    label: str
    question: str
    choices: Mapping[str, Sequence[Sequence[Cell]]]
    needs: str | None = None
    in_sight: int = 3
    reads_texts: bool = True
    optional: bool = False  # hidden for models without what the tab needs
    above: Sequence[type[View]] = ()
    shared: Sequence[Sequence[str]] = ()
    note: str = ""
    more: str = "More settings"  # the title of a choice's fold that holds several folds
    steppers: Sequence[str] = ()
    without_steppers: Sequence[str] = ()  # the choices without steppers
    moved: Mapping[str, Moved] = field(default_factory=dict)
    programs: Mapping[str, Program | tuple[Program, ...]] = field(default_factory=dict)

    @property
    def questions(self) -> dict[str, str]:
        """What each choice answers: the tab's question by the first of them, the others' that of their first view."""
        first, *others = self.choices
        return {first: self.question} | {label: views_in(self.choices[label])[0].question for label in others}

    @property
    def behind_more(self) -> dict[str, str]:
        """The choices that are not beside the question, each with the question that it answers."""
        return dict(list(self.questions.items())[self.in_sight :])

    @property
    def views(self) -> list[type[View]]:
        return list(dict.fromkeys([*self.above, *(view for rows in self.choices.values() for view in views_in(rows))]))
