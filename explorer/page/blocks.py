"""Gradio's Blocks, changed to do only the work that a visitor and an answer need, since one event loop serves everybody."""

import contextlib
import copy
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import gradio as gr

from explorer.api.blocks_seams import GradioBlocks, delivery, with_delivery
from explorer.api.gradio_seams import (
    Block,
    BlockFunction,
    SessionState,
    component_id,
    handler_of,
    holds_no_file,
    is_http_url_like,
    keep_stream_open,
    props_of,
)
from explorer.core.errors import BusyError, ExplorerError, InputError
from explorer.core.hosts import visitor
from explorer.core.limits import WAITING
from explorer.core.scheduling import LOADING, LONG_WORK, MODEL, PLACES, Call, Places
from explorer.page.controls import default_of
from explorer.page.events import Updates
from explorer.page.pieces import OPENS, Pieces
from explorer.page.tab import TabPage

LISTENING = "an opened page"
BACKGROUND = ("rest", "ask")  # events that the page itself triggers


@dataclass
class Seen:
    """What the browser of one session has, and the props of controls that it sends null for, as it does not have them yet."""

    built: set[int]  # the containers whose pieces were sent
    sure: set[int]  # those of them that have arrived, as its values show
    later: dict[int, dict[str, Any]] = field(default_factory=dict)


class PageBlocks(GradioBlocks):
    made_of_config = ("whole_config", "pieces", "_page")

    def __init__(self, **options: Any) -> None:
        self.opens_with: Mapping[str, Any] = {}  # the properties that the page opens with, by element id; see `first.py`
        self.frame_of: Callable[[Mapping[str, str]], dict[str, Any]] = lambda link: {}  # what a link's page opens with; see
        self.view_of: Callable[[Mapping[str, str]], dict[str, Any]] = lambda link: {}  # `arriving.py`
        self.containers: Sequence[int] = ()  # the containers of the page's pieces; see `pieces.py`
        self.first: frozenset[int] = frozenset()  # the containers that every page opens with
        self.shown_with: Mapping[int, int] = {}  # component → the container that is shown whenever an answer sets the component
        self.ends: dict[int, str] = {}  # listener → what the browser does at the end of its calls; see `then` of `events.py`
        self._seen: WeakKeyDictionary[SessionState, Seen] = WeakKeyDictionary()
        super().__init__(**options)
        self.turns = Places(PLACES, WAITING)

    def config_sent(self) -> dict[str, Any]:
        """The configuration for the current kind of request: the same object each time."""
        return self._page if OPENS.get() else self.whole_config

    @cached_property
    def pieces(self) -> Pieces:
        return Pieces(self.whole_config, self.containers)

    @cached_property
    def read(self) -> set[int]:
        """The components whose values listeners take."""
        return {component_id(block) for function in self.fns.values() for block in function.inputs}

    @cached_property
    def _page(self) -> dict[str, Any]:
        """What a page is sent before any tab is opened."""
        return self.pieces.page(self.first, without=("api",))

    @property
    def in_background(self) -> list[int]:
        """The numbers of the listeners that no user waits for: long work, and the slow part that follows a picture."""
        long = [kind["concurrency_id"] for kind in LONG_WORK]
        later = {number for number, one in self.fns.items() if any(event in BACKGROUND for _, event in one.targets)}
        return sorted(later | {number for number, one in self.fns.items() if one.concurrency_id in long})

    def has_built(self, session: str | None, tab: TabPage, choice: str) -> bool:
        """Whether the browser of a session has this choice of this tab."""
        state = self.session_state(session)
        built = self._seen[state].built if state in self._seen else self.first
        return {component_id(tab.item), component_id(tab.choices[choice].column)} <= built

    def piece(self, tab: TabPage, choice: str, props: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
        """The layout and the components of a choice of a tab as they are sent; {} if every page opens with it."""
        wanted = {component_id(tab.item), component_id(tab.choices[choice].column)} - self.first
        new = [container for container in self.containers if container in wanted]
        if not new:
            return {}
        sent = self.pieces.delivery(new, props, self.first)
        return {"layout": sent["layout"], "components": [one for one in sent["components"] if one["type"] != "state"]}

    def is_wanted(self, session: str | None) -> bool:
        """Whether another call of the session waits for the one that is running."""
        state = self.session_state(session)
        return state is not None and self.turns.of(state).wanted > 0

    def finish(self, steps: Iterable[Any], session: str | None) -> bool:
        """Take steps until another call of the session waits. Returns whether all were taken; an error was shown elsewhere."""
        try:
            return not any(self.is_wanted(session) for _ in steps)
        except ExplorerError:
            return False

    async def call(
        self, block_fn: BlockFunction | int, inputs: list[Any], state: SessionState | None = None, *others: Any, **named: Any
    ) -> dict[str, Any]:
        """Handle a call, from its arguments to what is sent: sessions run side by side, the calls of one session in order.

        So each call sees the states that the one before it left, and an older picture never replaces a newer one.
        """
        function = handler_of(self, block_fn)
        if function is None:
            raise KeyError(block_fn)
        kind = function.concurrency_id
        if function.api_visibility == "private":
            keep_stream_open(self, named.get("session_hash"), LISTENING)
            if state is not None:
                self._hear(self._seen_by(state), self._heard_in(function))
        if holds_no_file(function):
            named["root_path"] = None  # no file, so no address that needs the root path in front
        async with contextlib.AsyncExitStack() as stack:
            if state is not None and kind in (MODEL["concurrency_id"], LOADING["concurrency_id"]):
                await stack.enter_async_context(self.turns.of(state))
            if kind == MODEL["concurrency_id"]:
                try:
                    await stack.enter_async_context(self.turns.place(self._wish(**named)))
                except BusyError as error:
                    raise gr.Error(str(error), print_exception=False) from error
            return await self.answer(block_fn, inputs, state, *others, **named)

    async def answer(self, *given: Any, **named: Any) -> dict[str, Any]:
        """Let Gradio handle a call whose turn has come, and add the pieces of the page that it builds."""
        delivery.set(None)
        return with_delivery(await super().call(*given, **named), named.get("root_path"))

    def _wish(self, request: Any = None, session_hash: str | None = None, event_id: str | None = None, **_: Any) -> Call:
        """What the queue needs to know of a call. Only calls outside Gradio's queue are asked whether their client is gone."""
        asked = getattr(request, "request", None) if event_id is None else None
        address = visitor(request.client) if request is not None else ""
        gone = asked.is_disconnected if asked is not None else None
        return Call(address, session_hash is not None, gone)

    async def read_inputs(
        self, block_fn: BlockFunction, inputs: list[Any], state: SessionState | None, explicit_call: bool = False
    ) -> list[Any]:
        """Make the handler's arguments. Gradio uses a thread for every input; we use one only for inputs that may block.

        Raises gr.Error for a value that a control of the page cannot have.
        """
        _refuse_addresses(inputs)
        if state is None or not block_fn.preprocess or block_fn.component_prop_inputs:
            return await super().read_inputs(block_fn, inputs, state, explicit_call)
        self.validate_inputs(block_fn, inputs)
        found = {block: state[component_id(block)] for block in block_fn.inputs if block.stateful}
        seen = self._seen_by(state)
        told = (block for block, value in zip(block_fn.inputs, inputs, strict=False) if value is not None and not block.stateful)
        self._hear(seen, {piece for block in told for piece in self.pieces.around(component_id(block))})
        for block, value in zip(block_fn.inputs, inputs, strict=False):
            if value is None and not self._there(block, seen.sure):  # the browser does not have this component yet
                found[block] = seen.later.get(component_id(block), {}).get("value", default_of(block))
            elif block not in found and _is_plain(block, value):
                # Preprocessed by the session's own copy, with the range and choices that it was given.
                found[block] = state.get(component_id(block), block).preprocess(value)
        others = {block: value for block, value in zip(block_fn.inputs, inputs, strict=False) if block not in found}
        other = copy.copy(block_fn)
        other.inputs = list(others)
        made = await super().read_inputs(other, list(others.values()), state, explicit_call)
        found |= dict(zip(others, made, strict=True))
        return [found[block] for block in block_fn.inputs]

    async def write_outputs(self, block_fn: BlockFunction, predictions: list | dict, state: SessionState | None) -> list[Any]:
        """Make what is sent. Gradio processes every possible output; we process those that the handler names, if any."""
        if holds_no_file(block_fn):
            return [predictions]
        if predictions == {}:
            return [gr.skip() for _ in block_fn.outputs]
        if not isinstance(predictions, dict) or not all(isinstance(key, Block) for key in predictions):
            return await super().write_outputs(block_fn, predictions, state)
        named = copy.copy(block_fn)
        named.outputs = list(predictions)
        more = set(named.outputs) - set(block_fn.outputs)
        if more and (state is None or not self._pieces_around(more)):
            return await super().write_outputs(block_fn, predictions, state)  # which raises Gradio's error
        values = list(predictions.values())
        made = await super().write_outputs(named, values if len(values) > 1 else values[0], state)
        changed = dict(zip(named.outputs, made, strict=True))
        if state is not None:
            seen = self._seen_by(state)
            lost = self._pieces_around(more)  # outputs missing from this listener mean that the browser has lost their pieces
            gone = {piece for piece in seen.built if not lost.isdisjoint({piece, *self.pieces.around(piece)})}
            seen.built, seen.sure = seen.built - gone, seen.sure - gone
            changed = self._deliver(changed, seen)
        # A state's value stays on the server. Gradio sends null for it, which the browser would take for a change at first.
        return [gr.skip() if output.stateful else changed.get(output, gr.skip()) for output in block_fn.outputs]

    def _seen_by(self, state: SessionState) -> Seen:
        return self._seen.setdefault(state, Seen(set(self.first), set(self.first)))

    def _hear(self, seen: Seen, pieces: set[int]) -> None:
        """The browser has these pieces, even if the server has forgotten the session."""
        if not pieces <= seen.sure:
            seen.built, seen.sure = seen.built | pieces, seen.sure | pieces
            seen.later = {number: props for number, props in seen.later.items() if not self.pieces.is_there(number, seen.sure)}

    def _heard_in(self, function: BlockFunction) -> set[int]:
        """The pieces with the component that fired."""
        around = [set(self.pieces.around(number)) for number, _ in function.targets if number is not None]
        return set.intersection(*around) if around else set()

    def _pieces_around(self, components: Iterable[Block]) -> set[int]:
        return {piece for component in components for piece in itertools.islice(self.pieces.around(component_id(component)), 1)}

    def _there(self, component: Block, pieces: set[int]) -> bool:
        return component.stateful or self.pieces.is_there(component_id(component), pieces)

    def _deliver(self, changed: Updates, seen: Seen) -> Updates:
        """Send the pieces that an answer shows for the first time, with their new values; values for other pieces wait.

        Returns the changes to components that the browser has already.
        """
        numbers = {component_id(one): props_of(value) for one, value in changed.items()}
        shown = {self.shown_with[number] for number in numbers if number in self.shown_with}
        shown |= {number for number in self.pieces.inner & numbers.keys() if numbers[number].get("visible")}
        wanted = shown.union(*map(self.pieces.around, shown)) - seen.built
        new = [container for container in self.containers if container in wanted]  # a tab before its choices
        absent = {one: value for one, value in changed.items() if not self._there(one, seen.built)}
        for one, number in zip(changed, numbers, strict=True):
            if one in absent or (number in self.read and not self._there(one, seen.sure)):
                seen.later.setdefault(number, {}).update(numbers[number])
        if new:
            delivery.set(self.pieces.delivery(new, seen.later, seen.built))
            seen.built.update(new)
            waits = {number for number in seen.later if number in self.read or not self.pieces.is_there(number, seen.built)}
            seen.later = {number: seen.later[number] for number in waits}
        return {one: value for one, value in changed.items() if one not in absent}


def _refuse_addresses(inputs: Any) -> None:
    """Raise gr.Error for a file given by a URL: Gradio would download it, and nothing may leave this machine."""
    waiting = [inputs]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict) and is_http_url_like(found.get("path")):
            refused = InputError("A file cannot come from another machine. Upload it.")
            raise gr.Error(str(refused), print_exception=False) from refused
        if isinstance(found, dict | list):
            waiting.extend(found.values() if isinstance(found, dict) else found)


def _is_plain(block: gr.components.Component, value: object) -> bool:
    """Whether a value is plain data: no file, and nothing that its component turns into an object."""
    alone = value is None or isinstance(value, str | int | float)
    return block.data_model is None and (alone or (isinstance(value, list) and all(isinstance(item, str) for item in value)))
