"""Read a link: unpack its texts, parse its parameters, and collect a sentence for each that is invalid here."""

import base64
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from explorer.bert.capabilities import Capabilities
from explorer.core.errors import ExplorerError, InputError
from explorer.core.limits import BOX_CHARACTERS, CHARACTERS, CUTS
from explorer.export.place import SETTING, VERSION, slug, tab_of
from explorer.tabs import FIRST_TAB
from explorer.ui.settings import Number, Setting, Text
from explorer.ui.subject import Selection, Subject, in_order
from explorer.ui.tabs import Tab
from explorer.ui.view import View

LONGEST_WORD = 100
MARK = "~"  # before a packed text; a text that begins with the mark itself gets a second one in front
LONG = 200  # characters; shorter ones stay readable
NOT_HERE = {  # what a link may select that this model or input does not have
    "token": "The link asked for token {}, which this input does not have; none is chosen.",
    "off": "The link switches off heads that this model does not have; they are left out.",
    "swap": "The link swaps a word that cannot be swapped so in this input; it is left as it is.",
    "patch": "The link patches what this input does not have; nothing is patched.",
    "cut": "The link cuts attention weights that this model or input does not have; they are left out.",
}


class Asked:
    """The parameters of a link; `told` collects a sentence for each that cannot be followed."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        self._parameters, self.told = parameters, []
        self._packed = Unpacking(BOX_CHARACTERS.most + 2 * CHARACTERS.most)  # one full box
        version = parameters.get("v", "1")
        if _number(version, 0) is None or int(version) > VERSION:
            self.told.append("The link was made by a newer app than this one, so some of it may be missing here.")
        named = tab_of(parameters.get("tab", FIRST_TAB))
        if gone := named.moved.get(parameters.get("view", "")):
            settings = {SETTING + name: text for name, text in gone.settings.items()}
            self._parameters = {**settings, **parameters, "tab": gone.tab, "view": gone.view}
            self.told.append(gone.told)

    def named(self, default: Subject) -> tuple[Subject, Tab, str]:
        """The input, the tab and the choice as the link names them, whatever the model has; no model is loaded."""
        text_a = self._text("a", default.text_a)
        text_b = self._text("b", "" if "a" in self._parameters else default.text_b)
        subject = Subject(self._parameters.get("model") or default.model_name, text_a, text_b, self._selection(default.chosen))
        tab, view = tab_of(self._parameters.get("tab", FIRST_TAB)), self._parameters.get("view")
        return subject, tab, next((label for label in tab.choices if slug(label) == view), "")

    def subject(self, default: Subject) -> Subject:
        """The input with a selection that fits it."""
        subject, _, _ = self.named(default)
        try:
            capabilities = subject.model.capabilities
        except ExplorerError as error:
            if subject.model_name == default.model_name:
                raise
            subject = replace(subject, model_name=default.model_name)
            capabilities = subject.model.capabilities
            self.told.append(f"{error} {default.model_name} is shown instead.")
        chosen, kept = subject.chosen, subject.selection
        for name, whose in (("layer", "this model"), ("head", "a layer of this model")):
            if (wanted := getattr(chosen, name)) != (shown := getattr(kept, name)):
                has = _count(getattr(capabilities, f"{name}s"), name)
                self.told.append(f"The link asked for {name} {wanted}; {whose} has {has}, so it shows {name} {shown}.")
        if len(kept.cut) == CUTS.most < len(chosen.cut):
            self.told.append(f"The link cuts more than {CUTS.most} attention weights; the first {CUTS.most} are cut.")
            chosen = replace(chosen, cut=kept.cut)
        lost = (name for name in NOT_HERE if getattr(chosen, name) != getattr(kept, name))
        self.told += [NOT_HERE[name].format(getattr(chosen, name)) for name in lost]
        return subject.select(picked=kept.picked)

    def choice(self, capabilities: Capabilities) -> tuple[Tab, str]:
        named, view = self._parameters.get("tab", FIRST_TAB), self._parameters.get("view", "")
        tab = tab_of(named)
        if tab.id != named:
            self.told.append(f"There is no tab {_shown(named)}; {tab.label} is shown.")
        if tab.optional and not getattr(capabilities, str(tab.needs)):
            absent, tab, view = tab, tab_of(FIRST_TAB), ""
            self.told.append(f"This model has nothing for the tab {absent.label}; {tab.label} is shown.")
        first = next(iter(tab.choices))
        choice = next((label for label in tab.choices if slug(label) == view), first) if view else first
        if view and slug(choice) != view:
            self.told.append(f"There is no view {_shown(view)} in {tab.label}; {choice or 'what it has'} is shown.")
        return tab, choice

    def views(self, kinds: Sequence[type[View]], capabilities: Capabilities) -> tuple[View, ...]:
        given = {name.removeprefix(SETTING): text for name, text in self._parameters.items() if name.startswith(SETTING)}
        known = {name: kind.settings[name] for kind in kinds for name in kind.settings if kind.settings[name].linked}
        if unknown := [_shown(name) for name in given if name not in known]:
            named = ", ".join(unknown[:3]) + (" and others" if len(unknown) > 3 else "")
            self.told.append(f"The link sets what is not there to be set here ({named}); it is left out.")
        found = {name: self._setting(known[name], name, given[name], capabilities) for name in known if name in given}
        values = {name: value[0] for name, value in found.items() if value is not None}
        own = [{name: values[name] for name in values if name in kind.settings} for kind in kinds]
        return tuple(replace(kind.read({}, capabilities), **given) for kind, given in zip(kinds, own, strict=True))

    def _setting(self, setting: Setting, name: str, text: str, capabilities: Capabilities) -> tuple[Any] | None:
        """The value in a tuple of one; None to keep the default."""
        called = f"the setting {setting.label or name!r}"
        try:
            text = self._packed.unpacked(text, (setting.limit if isinstance(setting, Text) else CHARACTERS).most)
            parsed = setting.parsed(text)
            value = setting.check(setting.nearest(parsed, capabilities), called, capabilities)
        except InputError as error:
            self.told.append(f"{error} The link's {name} is left out.")
            return None
        if value != parsed if isinstance(setting, Number) else setting.written(value) != text:
            self.told.append(f"The link asked for {_shown(text)} as {called}; it is {_shown(setting.written(value))}.")
        return (value,)

    def _text(self, name: str, default: str) -> str:
        if name not in self._parameters:
            return default
        try:
            return self._packed.unpacked(self._parameters[name], CHARACTERS.most)
        except InputError as error:
            self.told.append(str(error))
            return default

    def _selection(self, default: Selection) -> Selection:
        layer, head, token = (self._number(name, low) for name, low in (("layer", 0), ("head", 1), ("token", 0)))
        swap, off = words_in(self._parameters.get("swap")), self._rows("off", 1, 1)
        patches, cuts = self._rows("patch", 0, 0), self._rows("cut", 1, 0, 0, 0)
        if swap is None and "swap" in self._parameters:
            self._senseless("swap")
        return Selection(
            default.layer if layer is None else layer,
            default.head if head is None else head,
            default.token if token is None else token,
            default.picked or layer is not None or head is not None,
            tuple(sorted({(layer - 1, head - 1) for layer, head in off})),
            swap,
            (patches[0][0], patches[0][1]) if patches else None,
            in_order((layer - 1, query, key, head - 1 if head else None) for layer, query, key, head in cuts),
        )

    def _number(self, name: str, low: int) -> int | None:
        value = self._parameters.get(name)
        number = None if value is None else _number(value, low)
        if value is not None and number is None:
            self._senseless(name)
        return number

    def _rows(self, name: str, *lows: int) -> list[tuple[int, ...]]:
        """The rows in '6.11,3.2', each number at least its `low`; empty if one of them is invalid."""
        if name not in self._parameters:
            return []
        rows: list[tuple[int, ...]] = []
        for row in self._parameters[name].split(","):
            numbers = [number for number in map(_number, row.split("."), lows) if number is not None]
            if not len(numbers) == len(lows) == row.count(".") + 1:
                self._senseless(name)
                return []
            rows.append(tuple(numbers))
        return rows

    def _senseless(self, name: str) -> None:
        self.told.append(f"The link's {name} makes no sense ({_shown(self._parameters[name])}); it is left out.")


def _number(value: str, low: int) -> int | None:
    return int(value) if re.fullmatch(r"\d{1,7}", value, re.ASCII) and int(value) >= low else None


def words_in(value: str | None) -> tuple[str, str] | None:
    """The two words in 'teacher,engineer', or None."""
    match (value or "").split(","):
        case [word, other] if all(0 < len(one) <= LONGEST_WORD and re.fullmatch(r"[^\s,]+", one) for one in (word, other)):
            return word, other
    return None


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _shown(text: str) -> str:
    """A text from a link, shortened and without unprintable characters, for a sentence."""
    return repr("".join(letter if letter.isprintable() else " " for letter in text[:30]) + "…" * (len(text) > 30))


# Long texts are compressed: zlib, then URL-safe base64, after a mark.


def packed(text: str) -> str:
    """A text as it stands in a link: compressed if it is long and becomes shorter. Raises InputError."""
    if len(text) > LONG:
        try:
            raw = text.encode()
        except UnicodeEncodeError as error:
            raise InputError("A text holds half a character (a lone surrogate); paste it again.") from error
        short = MARK + base64.urlsafe_b64encode(zlib.compress(raw, 9)).decode("ascii").rstrip("=")
        if len(short) < len(text):
            return short
    return MARK + text if text.startswith(MARK) else text


class Unpacking:
    """Unpacks the texts of one link, which may have `most` characters all together."""

    def __init__(self, most: int) -> None:
        self._left = most

    def unpacked(self, text: str, most: int) -> str:
        """The text that `packed` wrote, of at most `most` characters. Raises InputError if it is broken or too long."""
        if not text.startswith(MARK):
            return text
        if text.startswith(MARK * 2):
            return text[len(MARK) :]
        try:
            return self._expanded(text[len(MARK) :], most)
        except (ValueError, zlib.error) as error:
            raise InputError("A text in the link cannot be unpacked; copy the link once more.") from error

    def _expanded(self, short: str, most: int) -> str:
        raw = base64.b64decode(short + "=" * (-len(short) % 4), altchars=b"-_", validate=True)
        most, unpacking = min(most, self._left), zlib.decompressobj()
        data = unpacking.decompress(raw, 4 * most + 1)  # a character has at most four bytes
        self._left -= most
        if len(data) > 4 * most or len(text := data.decode()) > most:
            raise InputError("A text in the link is packed and far too long; send it another way.")
        if not unpacking.eof or unpacking.unused_data:
            raise InputError("A text in the link is cut off; copy the link once more.")
        self._left += most - len(text)
        return text
