"""All of a model in one picture: where the contents of a place come from, and the answers at the end."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from explorer.core.errors import InputError
from explorer.overview.compute import Run, run_of
from explorer.overview.deeper import heads_inside, layer_inside, layers_inside, route_inside, strongest_head
from explorer.overview.pictures import Picture, Rows, flow, heads_of_routes
from explorer.overview.run import Followed, answers_of, opens_on, rows_of, selected_run, turned_in, words_before, words_in
from explorer.overview.story import stops_of
from explorer.text import limits
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.settings import memory
from explorer.ui.subject import Subject
from explorer.ui.telling import quoted, stands_out
from explorer.ui.view import Change, Content, Finding, View, Why, check, matches, part, settle
from explorer.ui.what_if import WhatIf, cut_or_mended, toggled

LAST = -1
SAID = (
    "A box shows what the model would say at that token after that layer; a thicker line, that more was taken. Click a box, a "
    "token or a bar to see where it comes from, a layer's title to look inside, a line to cut it."
)
SAID_WITHOUT_WORDS = (
    "This model guesses no words: a box shows how far the token's vector turned in that layer (1 − cosine). A thicker line: more "
    "was taken. Click a box or a token to see where it comes from, the title of a layer to look inside, a line to see its heads."
)


def _state(value: object) -> int:
    """The hidden state that is followed, from 0; -1 for the last."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else LAST


def _opened(value: object) -> tuple[int, ...]:
    """The unfolded part: (layer,) from 1, a route (layer, query, key), or nothing."""
    numbers = value if isinstance(value, list | tuple) else ()
    whole = all(isinstance(number, int) and not isinstance(number, bool) and number >= 0 for number in numbers)
    return tuple(numbers) if whole and len(numbers) in (1, 3) and numbers[0] >= 1 else ()


WORDS, TURNS = "what the model would say at that token after that layer", "how far the vector turned in that layer (1 − cosine)"
ANYWHERE, INSIDE, BY_HEADS = (
    "a box, a token or a bar to see where it comes from",
    "the title of a layer to look inside, for the chosen token",
    "a line to see its heads",
)


class Routes(View):
    """Tokens as rows, hidden states as columns, and the routes that lead to the selected place."""

    name, question = "overview/routes", "How does the sentence become an answer?"
    shows_changes = True
    state: int = memory(LAST, kept=_state)
    opened: tuple[int, ...] = memory((), kept=_opened)
    picture = part("flow", answer=True)
    check = check()

    def compute(self, subject: Subject) -> Content:
        """The picture, and a check that its parts sum to the model's own vectors."""
        run = selected_run(subject)
        before = run_of(subject.trace) if subject.selection.is_changed else None
        followed = self._followed(subject, run)
        rows = rows_of(run.trace.encoding, followed)
        picture = self._picture(subject, run, before, followed, rows)
        what = "in every layer, the parts that each token takes sum to the model's own vector after its attention"
        return {"picture": flow(picture), "check": matches(run.mixed.max_error, what, 1e-4)}

    def standing_alone(self, subject: Subject, content: Content, unfolded: bool) -> Content:
        """The picture with every layer unfolded for the selected token, so that clicks on titles work without a server."""
        run, picture = selected_run(subject), content["picture"]
        followed = self._followed(subject, run)
        rows = rows_of(run.trace.encoding, followed)
        layers = layers_inside(subject, run, rows, followed.position) if unfolded else []
        parts = heads_inside(subject, run) if unfolded else []
        clicks = [told for told, there in ((ANYWHERE, picture["mixing"]), (INSIDE, layers), (BY_HEADS, parts)) if there]
        box, asked = WORDS if picture["words"] else TURNS, f" Click {', or '.join(clicks)}." if clicks else ""
        told = f"A box shows {box}; a thicker line, that more was taken.{asked}"
        heads = heads_of_routes(run.mixed.shares, parts) if parts else None
        return {**content, "picture": {**picture, "layers": layers, "heads": heads, "said": told}}

    def finding(self, subject: Subject) -> Finding | None:
        run = selected_run(subject)
        followed = self._followed(subject, run)
        if not followed.taken:
            return None
        strongest = followed.taken[0]
        head = strongest_head(subject, run, strongest)
        chosen = {"layer": strongest.layer + 1, "head": head, "token": strongest.query}
        why = Why("attention", "One head", chosen) if stands_out(strongest.share) else None
        return Finding(_tell(run, followed), why)

    def on_picture(self, subject: Subject, index: object) -> Change:
        """Handle a click: the single entry says whether it is a place, a layer to unfold, a route, a head, or a cut."""
        if not isinstance(index, Mapping) or not index:
            raise InputError("Click a box, a line or a title of the picture.")
        layers, heads = subject.model.capabilities.layers, subject.model.capabilities.heads
        name = next(iter(index))
        value = index[name]
        if name in ("state", "token"):
            state = limits.check_integer(index.get("state"), "the hidden state", 0, layers)
            token = self._token(subject, index.get("token"))
            kept = self.opened if len(self.opened) == 1 and self.opened[0] <= state else ()
            return Change({"token": token}, {"state": LAST if state == layers else state, "opened": kept})
        if name == "unfold":
            layer = limits.check_integer(value, "the layer", 0, layers)
            return settle(opened=(layer,) if layer else ())
        if name == "close":
            return settle(opened=())
        if name == "route":
            return settle(opened=self._route(subject, value))
        if name == "cut":
            layer, query, key = self._route(subject, value[:3] if isinstance(value, list) else value)
            head = limits.check_integer(value[3], "the head", 0, heads) if len(value) == 4 else 0
            cut = (layer - 1, query, key, head - 1 if head else None)
            return replace(cut_or_mended(subject, cut), settings={"opened": ()})
        if name == "off":
            layer, head = limits.check_cell(value)
            layer = limits.check_integer(layer, "the layer", 1, layers)
            head = limits.check_integer(head, "the head", 1, heads)
            return toggled(subject, (layer - 1, head - 1))
        raise InputError("Click a box, a line or a title of the picture.")

    def _token(self, subject: Subject, value: object) -> int:
        return limits.check_integer(value, "the token", 0, subject.trace.kept - 1)

    def _route(self, subject: Subject, value: object) -> tuple[int, int, int]:
        """A valid route: (layer from 1, query, key). Raises InputError."""
        if not isinstance(value, list | tuple) or len(value) != 3:
            raise InputError("A route is a layer, the token that takes and the token that gives.")
        layer = limits.check_integer(value[0], "the layer", 1, subject.model.capabilities.layers)
        return layer, self._token(subject, value[1]), self._token(subject, value[2])

    def _followed(self, subject: Subject, run: Run) -> Followed:
        layers = subject.model.capabilities.layers
        # The state was chosen together with a token: another text is followed from its end.
        at_end = self.state == LAST or subject.selection.token is None
        state = layers if at_end else min(self.state, layers)
        mixed = run.mixed.shares
        key = ("followed", subject.selection.off, subject.selection.cut, subject.selection.patch, state, subject.selection.token)
        return run.trace.once(key, lambda: Followed.of(mixed, opens_on(subject, mixed), state))

    def _picture(self, subject: Subject, run: Run, before: Run | None, followed: Followed, rows: Rows) -> Picture:
        model, row = subject.model, rows.of(followed.position)
        words = words_in(run, before, rows, row) if model.capabilities.fill_mask else None
        answers = answers_of(subject, run, before, followed.position)
        inside, route = self._deeper(subject, run, rows, followed)
        return Picture(
            rows,
            run.mixed.shares,
            followed.shares,
            followed.routes,
            followed.state,
            followed.position,
            answers,
            SAID if words else SAID_WITHOUT_WORDS,
            _tell(run, followed),
            stops_of(subject, run, followed, words, row, answers),
            words=words,
            moved=None if words else turned_in(run, rows),
            before=words_before(before, rows, words) if before and words else None,
            inside=inside,
            route=route,
        )

    def _deeper(self, subject: Subject, run: Run, rows: Rows, followed: Followed) -> tuple[Any, Any]:
        if not self.opened or self.opened[0] > subject.model.capabilities.layers:
            return None, None
        if len(self.opened) == 1:
            return layer_inside(subject, run, rows, self.opened[0], followed.position), None
        if not set(self.opened[1:]) <= set(rows.places):
            return None, None
        layer, query, key = self.opened
        return None, route_inside(subject, run, rows, (layer, query, key))


class PictureWhatIf(WhatIf):
    """Changes of the run beside those in the picture, and their effect in a sentence; the picture shows the rest."""

    name, question = "overview/what-if", "What is it good for, and what happens without it?"
    note = "Boxes with another first word than before are underlined; a dashed mark at the right is the probability before."

    def compute(self, subject: Subject) -> Content:
        return {name: shown for name, shown in super().compute(subject).items() if name != "answers"}


def _tell(run: Run, followed: Followed) -> str:
    """The prediction at the selected place, and the tokens from which it takes most, in one sentence."""
    tokens, place = run.trace.tokens, _place(run, followed)
    strongest: dict[int, tuple[int, float]] = {}
    for route in followed.taken:
        if route.key != followed.position:
            strongest.setdefault(route.key, (route.layer, route.share))
    told = [
        f"{quoted(tokens, key)} in layer {layer + 1} ({whole_percent(share)})"
        for key, (layer, share) in list(strongest.items())[:2]
        if stands_out(share)
    ]
    if not told:
        most = max((share for _, share in strongest.values()), default=0.0)
        return f"{place} takes little from any one token in a layer (at most {whole_percent(max(most, 0.01))})."
    return f"{place} takes most from {' and '.join(told)}."


def _place(run: Run, followed: Followed) -> str:
    """The selected place in words, with the guess if the token is masked."""
    state, position, model = followed.state, followed.position, run.trace.model
    token, last = f"“{run.trace.tokens[position]}”", state == model.capabilities.layers
    if not model.capabilities.fill_mask or position not in run.trace.mask_positions:
        return f"{token} in the end" if last else f"{token} after layer {state}"
    (guess,) = model.guesses(run.states[state, [position]], [position], 1)[0].candidates
    read = f"“{guess.token}” ({whole_percent(guess.probability)})"
    return f"{token} becomes {read}; it" if last else f"{token} is read as {read} after layer {state}; it"
