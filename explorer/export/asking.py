"""Read a link: unpack its texts, parse its parameters, and collect a sentence for each that is invalid here."""

import base64
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from explorer.bert.capabilities import Capabilities
from explorer.core.errors import ExplorerError, InputError
from explorer.core.limits import BOX_CHARACTERS, CHARACTERS
from explorer.export.place import SETTING, slug, tab_of
from explorer.tabs import FIRST_TAB
from explorer.text import limits
from explorer.ui.edits import check_move, check_path
from explorer.ui.settings import Number, Setting, Text
from explorer.ui.subject import Subject, in_order
from explorer.ui.tabs import Tab
from explorer.ui.view import View

LONGEST_WORD = 100  # characters of a word to swap
MARK = "~"  # before a packed text; a text that begins with the mark itself gets a second one in front
LONG = 200  # characters; shorter ones stay readable
# The page's selection, which every view takes.
OF_THE_PAGE = ("layer", "head", "token", "off", "cut", "swap", "patch", "move", "path")


class Asked:
    """The parameters of a link, and a sentence for each that cannot be followed."""

    def __init__(self, parameters: Mapping[str, str], with_files: bool = False) -> None:
        self._parameters, self._with_files = parameters, with_files
        self.told: list[str] = []
        self._packed = Unpacking(BOX_CHARACTERS.most + 2 * CHARACTERS.most)  # one full box
        named = tab_of(parameters.get("tab", FIRST_TAB))
        if gone := named.moved.get(parameters.get("view", "")):
            settings = {SETTING + name: text for name, text in gone.settings.items()}
            self._parameters = {**settings, **parameters, "tab": gone.tab, "view": gone.view}
            self.told += filter(None, [gone.told])

    def named(self, default: Subject) -> tuple[Subject, Tab, str]:
        """The input, the tab and the choice as the link names them, whatever the model has; no model is loaded."""
        text_a = self._text("a", default.text_a)
        text_b = self._text("b", "" if "a" in self._parameters else default.text_b)
        subject = Subject(self._parameters.get("model") or default.model_name, text_a, text_b, default.chosen)
        tab, view = tab_of(self._parameters.get("tab", FIRST_TAB)), self._parameters.get("view")
        return subject, tab, next((label for label in tab.choices if slug(label) == view), "")

    def subject(self, default: Subject) -> Subject:
        """The input with a selection that fits it."""
        subject, _, _ = self.named(default)
        try:
            _ = subject.model
        except ExplorerError as error:
            if subject.model_name == default.model_name:
                raise
            subject = replace(subject, model_name=default.model_name)
            self.told.append(f"{error} {default.model_name} is shown instead.")
        for name in filter(self._parameters.__contains__, OF_THE_PAGE):
            with self._telling(name):
                subject = choose(subject, name, self._nearest(subject, name, _value(name, self._parameters[name])))
        return subject.select()

    def choice(self, capabilities: Capabilities) -> tuple[Tab, str]:
        named, view = self._parameters.get("tab", FIRST_TAB), self._parameters.get("view", "")
        tab = tab_of(named)
        if tab.id != named:
            self.told.append(f"The app has no tab {_shown(named)}; {tab.label} is shown.")
        if tab.optional and not getattr(capabilities, str(tab.needs)):
            absent, tab, view = tab, tab_of(FIRST_TAB), ""
            self.told.append(f"This model has nothing to show in {absent.label}; {tab.label} is shown.")
        first = next(iter(tab.choices))
        choice = next((label for label in tab.choices if slug(label) == view), first) if view else first
        if view and slug(choice) != view:
            self.told.append(f"{tab.label} has no view {_shown(view)}; {choice or 'its only view'} is shown.")
        return tab, choice

    def views(self, kinds: Sequence[type[View]], capabilities: Capabilities) -> tuple[View, ...]:
        given = {name.removeprefix(SETTING): text for name, text in self._parameters.items() if name.startswith(SETTING)}
        settings = {name: setting for kind in kinds for name, setting in kind.settings.items()}
        known = {name: one for name, one in settings.items() if one.linked or (one.with_files and self._with_files)}
        if unknown := [_shown(name) for name in given if name not in known]:
            named = ", ".join(unknown[:3]) + (" and others" if len(unknown) > 3 else "")
            self.told.append(f"The link contains settings that this view lacks ({named}); they are ignored.")
        values: dict[str, Any] = {}
        for name in filter(given.__contains__, known):
            with self._telling(name):
                values[name] = self._setting(known[name], name, given[name], capabilities)
        own = [{name: values[name] for name in values if name in kind.settings} for kind in kinds]
        return tuple(replace(kind.read({}, capabilities), **given) for kind, given in zip(kinds, own, strict=True))

    def _setting(self, setting: Setting, name: str, text: str, capabilities: Capabilities) -> Any:
        """The value of a setting. Raises InputError."""
        called = f"the setting {setting.label or name!r}"
        text = self._packed.unpacked(text, (setting.limit if isinstance(setting, Text) else CHARACTERS).most)
        parsed = near = setting.parse(text)
        if isinstance(setting, Number):
            low, high = setting.range(capabilities)
            near = min(max(parsed, low), high)
        value = setting.check(near, called, capabilities)
        if value != parsed if isinstance(setting, Number) else setting.write(value) != text:
            self.told.append(f"The link asked for {_shown(text)} as {called}; it is {_shown(setting.write(value))}.")
        return value

    def _nearest(self, subject: Subject, name: str, value: Any) -> Any:
        """The value; a layer or head that the model does not have, as in a link made with a larger one, becomes its last."""
        if name not in ("layer", "head") or not isinstance(value, int):
            return value
        last = getattr(subject.model.capabilities, f"{name}s")
        if value > last:
            self.told.append(f"The link asked for {name} {value}; this model has {last}, so it shows {name} {last}.")
        return min(value, last)

    def _text(self, name: str, default: str) -> str:
        if name in self._parameters:
            with self._telling(name):
                return self._packed.unpacked(self._parameters[name], CHARACTERS.most)
        return default

    @contextmanager
    def _telling(self, name: str) -> Iterator[None]:
        """Tell what is wrong with a parameter, which is left out then."""
        try:
            yield
        except InputError as error:
            self.told.append(f"{error} The link's {name} is ignored.")


def choose(subject: Subject, name: str, value: Any) -> Subject:
    """The subject with this part of its selection (`OF_THE_PAGE`), which comes from a link or a program. Raises InputError."""
    has = subject.model.capabilities
    checked: Any
    match name:
        case "layer":
            checked = limits.check_integer(value, "the layer", 0, has.layers)
        case "head":
            checked = limits.check_integer(value, "the head", 1, has.heads)
        case "token":
            checked = limits.check_integer(value, "the token", 0, subject.trace.kept - 1)
        case "off":
            checked = tuple(sorted(limits.head_indices(value, has.layers, has.heads)))
        case "cut":
            checked = in_order(limits.cut_weights(value, has.layers, has.heads, subject.trace.kept))
        case "swap":
            if not _are_two(value) or not all(map(_is_word, value)) or not subject.can_swap(*value):
                raise InputError("The swap must be two words: one of the input, and another one with as many pieces.")
            checked = tuple(value)
        case "patch":
            if not _are_two(value) or not subject.selection.swap:
                raise InputError("The patch must be a hidden state and a token, such as [6, 3], beside a swap.")
            state = limits.check_integer(value[0], "the hidden state", 0, has.layers)
            checked = state, limits.check_integer(value[1], "the token", 0, subject.trace.kept - 1)
        case "move":
            checked = check_move(value, subject)
        case "path":
            checked = check_path(value, subject)
    return subject.select(**{name: checked})


def _are_two(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2


def _is_word(value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_WORD and re.fullmatch(r"[^\s,]+", value) is not None


def _value(name: str, text: str) -> Any:
    """What a link's text says of a part of the selection, still to be checked: a number, words, or rows such as 6.11,3.2."""
    if name in ("off", "cut", "path"):
        return [list(map(_number, row.split("."))) for row in text.split(",")]
    if name == "patch":
        return list(map(_number, text.split(".")))
    if name == "move":
        *most, strength = map(_number, text.split(","))
        return [*most, float(strength) if re.fullmatch(r"-?\d{1,2}(\.\d{1,9})?", str(strength), re.ASCII) else strength]
    return text.split(",") if name == "swap" else _number(text)


def _number(text: str) -> int | str:
    """The number in a text; a text that is none as it is, which no check lets pass."""
    return int(text) if re.fullmatch(r"\d{1,7}", text, re.ASCII) else text


def _shown(text: str) -> str:
    """A text from a link, shortened and without unprintable characters, for a sentence."""
    return repr("".join(letter if letter.isprintable() else " " for letter in text[:30]) + "…" * (len(text) > 30))


# Long texts are compressed: zlib, then URL-safe base64, after a mark.


def pack(text: str) -> str:
    """A text as a link contains it: compressed if it is long and becomes shorter. Raises InputError."""
    if len(text) > LONG:
        try:
            raw = text.encode()
        except UnicodeEncodeError as error:
            raise InputError("A text contains half a character (a lone surrogate). Paste the text again.") from error
        short = MARK + base64.urlsafe_b64encode(zlib.compress(raw, 9)).decode("ascii").rstrip("=")
        if len(short) < len(text):
            return short
    return MARK + text if text.startswith(MARK) else text


class Unpacking:
    """Unpacks the texts of one link, which may have `most` characters all together."""

    def __init__(self, most: int) -> None:
        self._left = most

    def unpacked(self, text: str, most: int) -> str:
        """The text that `pack` wrote, of at most `most` characters. Raises InputError if it is broken or too long."""
        if not text.startswith(MARK):
            return text
        if text.startswith(MARK * 2):
            return text[len(MARK) :]
        most, unpacking = min(most, self._left), zlib.decompressobj()
        try:
            raw = base64.b64decode(text[len(MARK) :] + "=" * (-(len(text) - len(MARK)) % 4), altchars=b"-_", validate=True)
            data = unpacking.decompress(raw, 4 * most + 1)  # a character has at most four bytes
            self._left -= most
            if len(data) > 4 * most or len(text := data.decode()) > most:
                raise InputError("A text in the link is packed and far too long. Send it another way.")
        except (ValueError, zlib.error) as error:
            raise InputError("A text in the link cannot be unpacked. Copy the link again.") from error
        if not unpacking.eof or unpacking.unused_data:
            raise InputError("A text in the link is cut off. Copy the link again.")
        self._left += most - len(text)
        return text
