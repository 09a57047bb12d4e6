"""What all tabs share: the input, the selection, and how a handler is run."""

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer.base.errors import ExplorerError
from explorer.base.log import logger
from explorer.page.components import Notice, TokenRow

if TYPE_CHECKING:
    from explorer.model.explorer import Explorer
    from explorer.model.trace import Trace

BUSY = "(...values) => BertPage.busy(values)"
"""JavaScript for a listener: what is in sight fades until DONE has run."""

DONE = "() => BertPage.done()"

CHOSEN = "(...values) => BertPage.chosen(values)"
"""JavaScript for a listener to dropdowns: it runs when something is chosen there, not when they are only left."""

Triggers = functools.partial | Sequence[Callable]
"""What is listened to: `earlier.success` or an event of our own components, or a list of events of components."""

Updates = dict[Any, Any]
"""New values by component; what is not named stays as it is."""

ONE_AT_A_TIME = {"concurrency_id": "model", "concurrency_limit": 1}
"""For every handler that runs torch: two passes at once on few cores are both slower than one after the other."""

TRAINING = {"concurrency_id": "train", "concurrency_limit": 2}
"""For work that takes long and must not hold up the others."""

QUIET = {"api_visibility": "private", "show_progress": "hidden", **ONE_AT_A_TIME}


def typed_in(*boxes: gr.Textbox) -> dict[str, str]:
    """Options for a listener to the `change` of text boxes: it runs once for what a person types, pastes or deletes there.

    (`input` tells only of keys that write a letter.) What the page itself sets is drawn by whoever sets it.
    """
    selector = ", ".join(f"#{box.elem_id}" for box in boxes)
    return {"js": f"(...values) => BertPage.typed(values, '{selector}')", "trigger_mode": "multiple"}


def _options_for(triggers: Triggers) -> dict[str, str]:
    """What a listener needs by default, so that the last choice counts, even one made while an earlier is worked on.

    (By default, Gradio drops what happens while the same listener is at work.)
    """
    if isinstance(triggers, functools.partial):
        follows = not triggers.func.has_trigger  # `earlier.success`, not an event of a component
        return {"trigger_mode": "always_last"} if follows else {}
    if not any(trigger.event_name in ("input", "release") for trigger in triggers):
        return {}
    with_menu = any(isinstance(trigger.__self__, gr.Dropdown) for trigger in triggers)
    return {"trigger_mode": "always_last"} | ({"js": CHOSEN} if with_menu else {})


@dataclass(frozen=True)
class Selection:
    """What is chosen on the page, the same in every tab."""

    layer: int = 1  # counted from 1 as on the screen; 0 is the embedding output, which only hidden states have
    head: int = 1  # counted from 1
    token: int | None = None  # zero-based position
    picked: bool = False  # whether a person or a link chose the layer and head; else a tab may show the best ones first

    @property
    def attention_layer(self) -> int:
        """Zero-based index of the layer whose attention is shown."""
        return max(self.layer, 1) - 1


@dataclass(frozen=True)
class View:
    """What the page shows now: one input to one model, and the selection, which always fits them."""

    model_name: str
    text_a: str
    text_b: str
    chosen: Selection = field(default_factory=Selection)

    @functools.cached_property
    def model(self) -> "Explorer":
        """The model in use. Raises ModelError."""
        from explorer.model.explorer import load  # torch is loaded here, not when the page is built

        return load(self.model_name)

    @functools.cached_property
    def trace(self) -> "Trace":
        """The input through the model. Raises InputError."""
        return self.model.trace(self.text_a, self.text_b)

    @functools.cached_property
    def selection(self) -> Selection:
        """The selection, moved to where this model and input have something."""
        can, chosen = self.model.capabilities, self.chosen
        token = chosen.token if chosen.token is not None and chosen.token < self.trace.kept else None
        return Selection(min(chosen.layer, can.layers), min(chosen.head, can.heads), token, chosen.picked)

    def chip_row(self, detail: bool = False) -> dict[str, Any]:
        """The tokens for a TokenRow, with everything that is known of them when `detail` is asked for."""
        encoding = self.trace.encoding
        more = {}
        if detail:
            more = {
                "ids": encoding.ids,
                "positions": encoding.positions,
                "attention_mask": encoding.attention_mask,
                "offsets": encoding.offsets,
            }
        return TokenRow.pack(
            encoding.tokens,
            kinds=encoding.kinds,
            segments=encoding.segments,
            words=encoding.words,
            hints=encoding.hints,
            selected=self.selection.token,
            **more,
        )


def friendly(handler: Callable) -> Callable:
    """Let a person read what went wrong: our own errors in their sentence, others as one that says no more.

    Gradio passes the message of `gr.Error` on, and leaves everything on the page as it was.
    """

    def told(error: Exception) -> gr.Error:
        if isinstance(error, ExplorerError):
            return gr.Error(str(error), print_exception=False)
        logger.error("A handler failed", exc_info=error)
        return gr.Error("That did not work, for a reason the server's log tells; the page keeps what it had.")

    @functools.wraps(handler)
    def run(*arguments: Any, **named: Any) -> Any:
        try:
            return handler(*arguments, **named)
        except gr.Error:
            raise
        except Exception as error:
            raise told(error) from error

    @functools.wraps(handler)
    def run_on(*arguments: Any, **named: Any) -> Iterator[Any]:
        try:
            yield from handler(*arguments, **named)
        except gr.Error:
            raise
        except Exception as error:
            raise told(error) from error

    return run_on if inspect.isgeneratorfunction(handler) else run


@dataclass(eq=False)
class Tab:
    """One tab: what it needs from the model, and how it is shown."""

    id: str
    label: str
    needs: str | None  # a field of Capabilities
    item: gr.Tab
    body: gr.Column
    absent: Notice
    way_out: gr.Button
    show: Callable[..., Updates] = lambda view: {}
    controls: Sequence[gr.components.Component] = ()
    outputs: Sequence[gr.components.Component] = ()

    def shows(
        self,
        show: Callable[..., Updates],
        outputs: Sequence[gr.components.Component],
        controls: Sequence[gr.components.Component] = (),
    ) -> None:
        """`show(view, *controls)` gives the new values of `outputs`; it runs whenever the open tab is out of date."""
        self.show, self.outputs, self.controls = show, outputs, controls

    @property
    def all_outputs(self) -> list[Any]:
        """Everything that showing this tab may change."""
        return [self.body, self.absent, self.way_out, *self.outputs]

    def updates(self, view: View, *controls: Any) -> Updates:
        """What to change on the page to show `view` here; why not, when the model cannot serve this tab."""
        from explorer.base.errors import CapabilityError

        try:
            if self.needs:
                view.model.require(self.needs)
        except CapabilityError as why:
            return {self.body: gr.Column(visible=False), self.absent: str(why), self.way_out: gr.Button(visible=True)}
        shown = {self.body: gr.Column(visible=True), self.absent: "", self.way_out: gr.Button(visible=False)}
        return {**shown, **self.show(view, *controls)}


@dataclass(eq=False)
class Page:
    """The components that belong to the page rather than to a tab, and the wiring that tabs use."""

    model_name: gr.State
    text_a: gr.Textbox
    text_b: gr.Textbox
    selection: gr.State
    picked_rows: list[TokenRow] = field(default_factory=list)  # a click there chooses the token
    masked_rows: list[TokenRow] = field(default_factory=list)  # what is clicked there is hidden or shown again
    tabs: dict[str, Tab] = field(default_factory=dict)
    model_requests: list[tuple[Callable, gr.State]] = field(default_factory=list)
    """Events after which the model that the state names is to be shown."""

    @property
    def inputs(self) -> list[gr.components.Component]:
        """What a View is made of."""
        return [self.model_name, self.text_a, self.text_b, self.selection]

    @contextmanager
    def tab(self, identifier: str, label: str, question: str, needs: str | None = None) -> Iterator[Tab]:
        """A tab whose title is the question it answers; components made inside belong to it."""
        with gr.Tab(label, id=identifier) as item:
            gr.Markdown(f"## {question}", elem_classes="question")
            absent = Notice()
            way_out = gr.Button("Use the bundled model", visible=False, size="sm", elem_classes="way-out")
            with gr.Column(elem_classes="view") as body:
                made = Tab(identifier, label, needs, item, body, absent, way_out)
                yield made
        self.tabs[identifier] = made

    def on(
        self,
        triggers: Triggers,
        handler: Callable,
        outputs: Sequence[gr.components.Component],
        inputs: Sequence[gr.components.Component] = (),
        **options: Any,
    ) -> gr.events.Dependency:
        """Run `handler(view, *inputs)`, which returns or yields updates, when one of the triggers fires."""
        return self.run(triggers, with_view(handler), outputs, [*self.inputs, *inputs], **options)

    def on_switch(self, triggers: Triggers, *arguments: Any, **options: Any) -> None:
        """Like `on`, for another view in the same tab: what was there fades until the new one has come."""
        self.on(triggers, *arguments, js=BUSY, **options).then(None, js=DONE, api_visibility="private")

    def on_pick(
        self,
        triggers: Triggers,
        handler: Callable,
        outputs: Sequence[gr.components.Component],
        inputs: Sequence[gr.components.Component] = (),
        **options: Any,
    ) -> gr.events.Dependency:
        """Like `on`, for something that was clicked: runs `handler(view, index, *inputs)`."""

        def picked(
            event: gr.SelectData, model_name: str, text_a: str, text_b: str, selection: Selection, *rest: Any
        ) -> Any:
            return handler(View(model_name, text_a, text_b, selection), event.index, *rest)

        # Every quick click counts. Gradio's default drops what comes while one is worked on, and
        # "always_last" repeats the click that was under way instead of the last one.
        settings = {"trigger_mode": "multiple", **options}
        return self.run(triggers, picked, outputs, [*self.inputs, *inputs], **settings)

    def run(
        self,
        triggers: Triggers,
        handler: Callable,
        outputs: Sequence[gr.components.Component],
        inputs: Sequence[gr.components.Component] = (),
        **options: Any,
    ) -> gr.events.Dependency:
        """Run `handler(*inputs)` for something that does not depend on the view."""
        listen = triggers if isinstance(triggers, functools.partial) else functools.partial(gr.on, list(triggers))
        settings = {**QUIET, **_options_for(triggers), **options}
        return listen(friendly(handler), list(inputs), list(outputs), **settings)

    def reselect(self, view: View, **changes: Any) -> View:
        """The same view with another layer, head or token chosen; a layer or head counts as picked, unless told not."""
        if not changes.keys().isdisjoint(("layer", "head")):
            changes.setdefault("picked", True)
        other = replace(view, chosen=replace(view.selection, **changes))
        vars(other).update({name: vars(view)[name] for name in ("model", "trace") if name in vars(view)})
        return other


def with_view(handler: Callable) -> Callable:
    """`handler(view, *rest)` as Gradio calls it: with the four values of `Page.inputs` in front."""

    def run(model_name: str, text_a: str, text_b: str, selection: Selection, *rest: Any) -> Any:
        return handler(View(model_name, text_a, text_b, selection), *rest)

    def run_on(model_name: str, text_a: str, text_b: str, selection: Selection, *rest: Any) -> Iterator[Any]:
        yield from handler(View(model_name, text_a, text_b, selection), *rest)

    return run_on if inspect.isgeneratorfunction(handler) else run
