"""What a view computes from: one input, one model, and the selection."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from explorer.bert import checkpoints
from explorer.bert.explorer import Explorer, load
from explorer.bert.hub import EXAMPLE_ID
from explorer.bert.trace import Trace
from explorer.core.errors import InputError, ModelError
from explorer.core.limits import CUTS
from explorer.techniques.ablation import Cut
from explorer.text.swaps import put

Off = tuple[tuple[int, int], ...]
"""Zero-based (layer, head) of the heads switched off."""

Moved = tuple[int, int, str, str, float]
"""(hidden state, token, word, other word, strength): the direction between two words, added to one vector."""

Path = tuple[tuple[int, ...], tuple[int, int, str]]
"""The sender and the receiver of `techniques.edits`."""

CHANGES: Mapping[str, Any] = {"off": (), "swap": None, "patch": None, "cut": (), "move": None, "path": None}
"""The fields of Selection that change the run, with their values for an unchanged run."""
NAMED = 3  # cuts named in a sentence; more are only counted


def head_name(head: tuple[int, int]) -> str:
    """A zero-based (layer, head) as the page counts."""
    return f"layer {head[0] + 1}, head {head[1] + 1}"


def name_heads(off: Off) -> str:
    if len(off) == 1:
        return head_name(off[0])
    names = [f"{layer + 1}.{head + 1}" for layer, head in off]
    return f"heads {', '.join(names[:8])}{f' and {len(names) - 8} more' if len(names) > 8 else ''} (layer.head)"


def in_order(cuts: Iterable[Cut]) -> tuple[Cut, ...]:
    """Cuts without duplicates, by layer, query and key; all heads come before single ones."""
    return tuple(sorted(set(cuts), key=lambda cut: (*cut[:3], -1 if cut[3] is None else cut[3])))


def cut_name(cut: Cut, tokens: Sequence[str]) -> str:
    """A cut as the page counts, written in the direction of information flow: from key to query."""
    layer, query, key, head = cut
    heads = "all heads" if head is None else f"head {head + 1}"
    return f"{token_name(tokens, key)} → {token_name(tokens, query)} in layer {layer + 1} ({heads})"


def token_name(tokens: Sequence[str], place: int) -> str:
    return f"{tokens[place]} (token {place})" if tokens.count(tokens[place]) > 1 else tokens[place]


def _name_cuts(cuts: Sequence[Cut], tokens: Sequence[str]) -> str:
    more = len(cuts) - NAMED
    named = ", ".join(cut_name(cut, tokens) for cut in cuts[:NAMED])
    return f"{named} and {more} more cut{'s' * (more > 1)}" if more > 0 else named


@dataclass(frozen=True)
class Selection:
    """The selection on the page, shared by all tabs."""

    layer: int = 1  # from 1, as on the page; 0 is the embedding output, for hidden states only
    head: int = 1  # counted from 1
    token: int | None = None  # zero-based position
    picked: bool = False  # whether a user or link chose layer and head; otherwise a tab may show the most telling ones first
    off: Off = ()  # heads switched off
    swap: tuple[str, str] | None = None  # a word of the input, and the one read in its place
    patch: tuple[int, int] | None = None  # (hidden state, token) that the swapped run gets from the unswapped one
    cut: tuple[Cut, ...] = ()  # attention weights set to zero
    move: Moved | None = None
    path: Path | None = None
    among: tuple[str, ...] = field(default=(), compare=False, repr=False)  # the tokens that token and cuts are of; () from a link

    @property
    def is_changed(self) -> bool:
        return any(getattr(self, name) for name in CHANGES)

    @property
    def attention_layer(self) -> int:
        """Zero-based index of the layer whose attention is shown."""
        return max(self.layer, 1) - 1

    @property
    def head_index(self) -> int:
        """Zero-based index of the head."""
        return self.head - 1

    @property
    def off_from_one(self) -> list[list[int]]:
        """[layer, head] of each head switched off, counted from 1."""
        return [[layer + 1, head + 1] for layer, head in self.off]

    @property
    def cut_from_one(self) -> list[list[int]]:
        """[layer, query, key, head] of each cut: layer and head from 1, head 0 for all heads, tokens from 0."""
        return [[layer + 1, query, key, 0 if head is None else head + 1] for layer, query, key, head in self.cut]


@dataclass(frozen=True)
class Subject:
    """One input to one model, both computed when first needed, and a selection that always fits them."""

    model_name: str
    text_a: str
    text_b: str
    chosen: Selection = field(default_factory=Selection)
    later: set[str] | None = field(default=None, compare=False)
    """For an immediate answer: the names of the slow parts that were left out. None if everything is wanted."""

    @classmethod
    def of(cls, trace: Trace, selection: Selection | None = None) -> "Subject":
        made = cls(trace.model.name, trace.encoding.text_a, trace.encoding.text_b, selection or Selection())
        return made._with(model=trace.model, trace=trace)

    @functools.cached_property
    def model(self) -> Explorer:
        """The model. Raises ModelError."""
        return load(self.model_name)

    @functools.cached_property
    def trace(self) -> Trace:
        """The trace of the input. Raises InputError."""
        return self.model.trace(self.text_a, self.text_b)

    @functools.cached_property
    def selection(self) -> Selection:
        """The selection, moved into the ranges of this model and input."""
        capabilities, chosen = self.model.capabilities, self.chosen
        token = self._follow()
        heads = {
            (layer, head) for layer, head in chosen.off if 0 <= layer < capabilities.layers and 0 <= head < capabilities.heads
        }
        swap = chosen.swap if chosen.swap and self.can_swap(*chosen.swap) else None
        patch = chosen.patch if chosen.patch and swap and self._has_state(*chosen.patch) else None
        cut = self._cuts()
        move = chosen.move if chosen.move and chosen.move[0] <= capabilities.layers and self._stays(chosen.move[1]) else None
        path = chosen.path if chosen.path and self._has_path(*chosen.path) else None
        return Selection(
            min(chosen.layer, capabilities.layers),
            min(chosen.head, capabilities.heads),
            token,
            chosen.picked,
            tuple(sorted(heads)),
            swap,
            patch,
            cut,
            move,
            path,
            self.trace.tokens if cut or move or path or token is not None else (),
        )

    @property
    def other_models(self) -> list[str]:
        """The names of other models that can be opened without a download."""
        names = dict.fromkeys([checkpoints.default_name(), checkpoints.BUNDLED, EXAMPLE_ID, *checkpoints.list_cached()])
        return [name for name in names if name != self.model_name and checkpoints.is_here(name)]

    @property
    def taken_away(self) -> str:
        """The heads off and the weights cut, as part of a sentence; '' if there are none."""
        off, cut = self.selection.off, self.selection.cut
        named = [name_heads(off)] if off else []
        return " and ".join([*named, _name_cuts(cut, self.trace.tokens)] if cut else named)

    def can_swap(self, word: str, other: str) -> bool:
        """Whether the word occurs and both have equally many pieces, so that tokens of both runs correspond."""
        texts = put(self.text_a, word, other), put(self.text_b, word, other)
        if texts == (self.text_a, self.text_b):
            return False

        def corresponds() -> bool:
            here, there = self.trace.encoding, self.model.encode(*texts)
            masks = [self.model.mask_positions(encoding) for encoding in (here, there)]
            return (here.kept, here.segments, masks[0]) == (there.kept, there.segments, masks[1])

        try:
            return self.trace.once(("can swap", word, other), corresponds)
        except InputError:
            return False

    def read_by(self, name: str) -> "Subject":
        """The subject with another model; '' keeps it. Raises ModelError for a model that is not on this machine."""
        name = name.strip() or self.model_name
        if name == self.model_name:
            return self
        if not checkpoints.is_here(checkpoints.check_name(name)):
            raise ModelError(f"{name[:80]} is not on this machine. Open it once in the model box, which fetches it.")
        return Subject(name, self.text_a, self.text_b, self.chosen, self.later)

    @property
    def swapped(self) -> "Subject":
        if not self.selection.swap:
            return self
        text_a, text_b = (put(text, *self.selection.swap) for text in (self.text_a, self.text_b))
        return Subject(self.model_name, text_a, text_b, self.selection, self.later)._with(model=self.model)

    @property
    def hurried(self) -> "Subject":
        """The subject for an immediate answer."""
        return replace(self, later=set())

    def select(self, **changes: Any) -> "Subject":
        """The subject with another selection; a layer or head counts as picked, unless `picked` says otherwise."""
        if not changes.keys().isdisjoint(("layer", "head")):
            changes.setdefault("picked", True)
        known = {name: vars(self)[name] for name in ("model", "trace") if name in vars(self)}
        return replace(self, chosen=replace(self.selection, **changes))._with(**known)

    @property
    def token(self) -> int:
        """The chosen token, else the first [MASK], else the first word."""
        if self.selection.token is not None:
            return self.selection.token
        masks = self.trace.mask_positions
        return masks[0] if masks else next((i for i, side in enumerate(self.trace.encoding.sequences) if side >= 0), 0)

    @property
    def blank(self) -> int:
        """The position of the chosen token if it is a [MASK], else of the first [MASK]. Raises InputError without one."""
        masks = self.trace.mask_positions
        if not masks:
            raise InputError("The text has no blank. Type [MASK], or click a word to hide it.")
        return self.selection.token if self.selection.token in masks else masks[0]

    @property
    def _tokens(self) -> int:
        """The number of tokens to choose from: 0 without a text, which not every view needs."""
        try:
            return self.trace.kept
        except InputError:
            return 0

    def _follow(self) -> int | None:
        """The chosen token, wherever it is in this text; None if it is gone. Masking or swapping a word moves no token."""
        at, before = self.chosen.token, self.chosen.among
        if at is None or at < 0 or not self._tokens:
            return None
        now = self.trace.tokens
        if at >= len(before) or len(before) == len(now) or now[at : at + 1] == before[at : at + 1]:
            return at if at < len(now) else None
        places = [place for place, token in enumerate(now) if token == before[at]]
        return min(places, key=lambda place: abs(place - at), default=None)

    def _cuts(self) -> tuple[Cut, ...]:
        """The cuts that this model and input have, up to the limit.

        A cut names positions. If another text or tokenizer puts other tokens there, the cut is undone, like the swap of a word
        that no longer occurs. Masking or swapping another word keeps it.
        """
        chosen, has = self.chosen, self.model.capabilities
        if not chosen.cut:
            return ()

        def is_there(layer: int, query: int, key: int, head: int | None) -> bool:
            return 0 <= layer < has.layers and self._stays(query, key) and (head is None or 0 <= head < has.heads)

        return in_order(cut for cut in chosen.cut if is_there(*cut))[: CUTS.most]

    def _has_path(self, sender: tuple[int, ...], receiver: tuple[int, int, str]) -> bool:
        (layer, *at), (to, place, part), has = sender, receiver, self.model.capabilities
        sends = layer < has.layers and (at[0] < has.heads if len(at) == 1 else self._stays(*at))
        return sends and (to < has.layers and place < has.heads if part else to <= has.layers and self._stays(place))

    def _stays(self, *places: int) -> bool:
        """Whether these tokens are still what they were when they were chosen, in a text with as many tokens."""
        now = self.trace.tokens if self._tokens else ()
        before = self.chosen.among or now
        return len(before) == len(now) and all(0 <= at < len(now) and before[at] == now[at] for at in places)

    def _has_state(self, layer: int, token: int) -> bool:
        return 0 <= layer <= self.model.capabilities.layers and 0 <= token < self._tokens

    def _with(self, **known: Any) -> "Subject":
        vars(self).update(known)
        return self
