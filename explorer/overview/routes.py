"""All of a model in one picture: where the contents of a place come from, and the answers at the end."""

from collections.abc import Generator, Mapping
from typing import Any

from explorer.core.errors import InputError
from explorer.overview.compute import Run, reached, run_of
from explorer.overview.pictures import Paths, Rows, flow, shown_answers
from explorer.overview.run import (
    Followed,
    answers_of,
    changes_of,
    opens_on,
    rows_of,
    selected_run,
    turned_in,
    words_before,
    words_in,
)
from explorer.overview.story import stops_of
from explorer.overview.telling import tell, tell_change
from explorer.overview.zoom import Zoom, layers_inside, neurons_inside, strongest_head, zoom_of
from explorer.text import limits
from explorer.ui.edits import check_move, check_path, edits_from_one
from explorer.ui.settings import memory
from explorer.ui.subject import CHANGES, Subject
from explorer.ui.telling import quote
from explorer.ui.view import Change, Content, Finding, View, Why, check, matches, part, select, show
from explorer.ui.what_if import Question, WhatIf, cut_or_mend, toggle

LAST = -1
WORDS, TURNS = "BERT's guess for that token after that layer", "how far that layer turned the vector (1 − cosine)"
CLICKS = " Click a box to trace it, click it again to look inside its layer, or click a line to cut it."
PLACES = " Click a box, a token or a bar to trace it."
LAYERS = " Click the title of a layer to look inside, for the chosen token."
NO_EDITS = {"move": None, "path": None}
NOT_CLICKED = "Click a box, a line or a title of the picture."


def _said(words: object, clicks: str) -> str:
    return f"Each box shows {WORDS if words else TURNS}. Thicker lines carry more.{clicks}"


def _state(value: object) -> int:
    """The hidden state that is followed, from 0; -1 for the last."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else LAST


def _zoom(value: object) -> Zoom:
    """What is open: (layer, head, key), of which the last ones may be missing; nothing for the whole sentence."""
    numbers = value if isinstance(value, list | tuple) else ()
    whole = all(isinstance(number, int) and not isinstance(number, bool) for number in numbers)
    return tuple(numbers) if whole and len(numbers) <= 3 and min([*numbers[:2], 1]) >= 1 and min([*numbers[2:], 0]) >= 0 else ()


class Routes(View):
    """Tokens as rows, hidden states as columns, and the routes that lead to the selected place."""

    name, question = "overview/routes", "How does the sentence become an answer?"
    shows_changes = True
    state: int = memory(LAST, kept=_state)
    zoom: Zoom = memory((), kept=_zoom)
    picture = part("flow", answer=True)
    step = part("step")
    check = check()

    def compute(self, subject: Subject) -> Content:
        """The picture, and a check that its parts sum to the model's own vectors."""
        run = selected_run(subject)
        what = "in every layer, the parts that each token takes sum to the model's own vector after its attention"
        return {"picture": self._picture(subject, run), "step": None, "check": matches(run.mixed.max_error, what, 1e-4)}

    def standing_alone(self, subject: Subject, content: Content, unfolded: bool) -> Content:
        """The picture with every layer open for the selected token, so that clicks on titles work without a server."""
        run, picture = selected_run(subject), content["picture"]
        followed = self._followed(subject, run)
        layers = layers_inside(subject, run, self._rows(subject), followed.position) if unfolded else []
        said = _said(picture["words"], (PLACES if picture["mixing"] else "") + (LAYERS if layers else ""))
        return {**content, "picture": {**picture, "layers": layers, "said": said}}

    def finding(self, subject: Subject) -> Finding | None:
        run = selected_run(subject)
        if subject.selection.is_changed:
            return Finding(tell_change(subject, run, opens_on(subject), self._rows(subject)))
        if (found := tell(subject, run, self._followed(subject, run))) is None:
            return None
        text, link = found
        chosen = {"layer": link.layer + 1, "head": strongest_head(run, link), "token": link.query}
        return Finding(text, Why("attention", "One head", chosen))

    def prepare_rest(self, subject: Subject) -> Generator[float, None, None]:
        """Cut the links that the finding is about, if the immediate answer left them out."""
        self.finding(subject)
        yield 1.0

    def on_picture(self, subject: Subject, index: object) -> Change:
        """Handle a click: the first entry says whether it is a place, a level of the zoom, or a change of the run."""
        if not isinstance(index, Mapping) or not index:
            raise InputError(NOT_CLICKED)
        name, value = next(iter(index.items()))
        if name in ("state", "token"):
            return self._choose(subject, index)
        if name == "zoom":
            return self._open(subject, value)
        if name == "neurons":
            layer = limits.check_integer(value, "the layer", 1, subject.model.capabilities.layers)
            found = neurons_inside(subject.trace, layer, opens_on(subject))
            return show(step={"neurons": found, "layer": layer, "token": opens_on(subject)})
        if name == "rest":  # of a change whose answers are shown already
            return show(**self.compute(subject))
        change = self._changed(subject, name, value)
        after = subject.select(**change.selection)
        if after.swapped.trace is not subject.swapped.trace or after.selection.patch != subject.selection.patch:
            return change
        step = self._answer_first(after, selected_run(subject))
        if name == "move":  # the words follow the slider
            step |= self._in_boxes(after, selected_run(after))
        return Change(change.selection, content={"step": step})

    def _choose(self, subject: Subject, index: Mapping[str, Any]) -> Change:
        """Follow another place. An open zoom goes to the layer that ends there, if it was in a higher one; `opens` opens it."""
        layers = subject.model.capabilities.layers
        state = limits.check_integer(index.get("state"), "the hidden state", 0, layers)
        token = limits.check_integer(index.get("token"), "the token", 0, subject.trace.kept - 1)
        zoom = (min([*self.zoom[:1], state]),) if state and (self.zoom or index.get("opens") is True) else ()
        return Change({"token": token}, {"state": LAST if state == layers else state, "zoom": zoom})

    def _open(self, subject: Subject, value: object) -> Change:
        """Go to a level of the zoom: [layer, head, key], of which the last ones may be missing."""
        if not isinstance(value, list | tuple) or len(value) > 3:
            raise InputError(NOT_CLICKED)
        model = subject.model.capabilities
        highest = (model.layers, model.heads, subject.trace.kept - 1)
        limited = zip(value, ("the layer", "the head", "the token"), (1, 1, 0), highest, strict=False)
        zoom = tuple(limits.check_integer(one, name, low, high) for one, name, low, high in limited)
        run = selected_run(subject)
        shown = zoom_of(run, self._rows(subject), self._followed(subject, run).position, zoom)
        return Change(settings={"zoom": zoom}, content={"step": {"zoom": shown}}, is_drawn=True)

    def _changed(self, subject: Subject, name: str, value: object) -> Change:
        """A change of the run that is made or undone."""
        layers, heads = subject.model.capabilities.layers, subject.model.capabilities.heads
        if name == "cut":
            (cut,) = limits.cut_weights([value], layers, heads, subject.trace.kept)
            return cut_or_mend(subject, cut)
        if name == "off":
            (head,) = limits.head_indices([value], layers, heads)
            return toggle(subject, head)
        if name == "move":
            return select(move=check_move(value, subject))
        if name == "path":
            return select(path=check_path(value, subject))
        if name == "back" and (value in CHANGES or value == "all"):
            return select(**(CHANGES if value == "all" else {str(value): CHANGES[str(value)]}))
        raise InputError(NOT_CLICKED)

    def _answer_first(self, subject: Subject, last: Run) -> dict[str, Any]:
        """What a change does to the answers, and the boxes that it reaches: known before all other words and the routes."""
        rows, position, trace = self._rows(subject), opens_on(subject), subject.trace
        pair = [0] if trace.encoding.text_b else []
        ends = range(trace.kept) if subject.model.own_head else [*pair, position, *trace.mask_positions]  # a task may read all
        run = selected_run(subject).towards(ends)
        answers = answers_of(subject, run, self._unchanged(subject), position)
        places = reached(run, last)[:, list(rows.places)].tolist()
        shown = {"answers": shown_answers(rows, answers), "changes": changes_of(subject), "reached": places}
        return {**NO_EDITS, **shown, **edits_from_one(subject)}

    def _unchanged(self, subject: Subject) -> Run | None:
        return run_of(subject.trace) if subject.selection.is_changed else None

    def _followed(self, subject: Subject, run: Run) -> Followed:
        layers = subject.model.capabilities.layers
        # The state was chosen together with a token: another text is followed from its end.
        at_end = self.state == LAST or subject.selection.token is None
        return Followed.of(run, opens_on(subject), layers if at_end else min(self.state, layers))

    def _rows(self, subject: Subject) -> Rows:
        """The rows, those of the run without changes: they stay where they are when something is cut."""
        return rows_of(subject.swapped.trace.encoding, self._followed(subject, run_of(subject.trace)))

    def _picture(self, subject: Subject, run: Run) -> dict[str, Any]:
        followed, rows, before = self._followed(subject, run), self._rows(subject), self._unchanged(subject)
        position, token = followed.position, quote(run.trace.tokens, followed.position)
        answers, boxes = answers_of(subject, run, before, position), self._in_boxes(subject, run)
        words = boxes["words"]
        shown = {
            **boxes,
            "answers": shown_answers(rows, answers),
            "zoom": zoom_of(run, rows, position, self.zoom),
            "changes": changes_of(subject),
            **edits_from_one(subject),
            "said": _said(words, CLICKS),
            "alt": f"{token} after layer {followed.state}, and the routes by which it got its contents",
        }
        paths = Paths(rows, run.mixed.shares, followed.shares, followed.routes, position)
        return flow(paths, stops_of(subject, run, followed, words, rows, answers), shown)

    def _in_boxes(self, subject: Subject, run: Run) -> dict[str, Any]:
        """What each box shows: words, and those before a change; how far its vector moved, for a model that reads none."""
        rows, before = self._rows(subject), self._unchanged(subject)
        if not subject.model.capabilities.fill_mask:
            return {"words": None, "moved": turned_in(run, rows).round(3).tolist(), "before": None}
        row = rows.of(self._followed(subject, run_of(subject.trace)).position)
        words = words_in(run, before, rows, row)
        old = words_in(before, None, rows, row) if before else words
        return {"words": words, "moved": None, "before": words_before(old, words) if before else None}


class PictureWhatIf(WhatIf):
    """Changes of the run beside those in the picture, which shows what they do and how to undo them."""

    name, question = "overview/what-if", "What changes if you break a part of the model?"

    def compute(self, subject: Subject) -> Content:
        return {name: shown for name, shown in super().compute(subject).items() if name == "gestures"}

    def _compare(self, subject: Subject, question: Question) -> Content:
        return {}
