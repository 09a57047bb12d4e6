"""Long runs of a character or two in every text that can be sent: what backtracks takes the square of their length."""

import secrets
from urllib.parse import urlencode

from hypothesis import strategies as st

from explorer.export.asking import pack
from explorer.export.place import seen_in, slug
from explorer.tabs import TABS, VIEWS
from explorer.ui.long_view import LongView
from explorer.ui.settings import Choice, Memory, Several, Text
from tests.fuzz.calls import LINKED, Call
from tests.fuzz.promises import check_sentence

UNITS = [
    *(" ", "\t", "\n", "\r", *"a0é中🥛\u0301\u200b|*/\\,.-_~#=?'\"([{<"),
    *("a ", "a\n", " |", "*a", "[MASK]", "[MASK] ", "{a}", "a/", "a=", "a,", "1.", "1,", "a|b\n", "##", "\ud800"),
]
LENGTHS = [300, 5_000, 20_000, 100_000, 1_000_000]
TAKEN, CHECKED = "/bx/take/view.json", "/bx/exercises/03-one-head.1"
MOST = 15_000  # characters of a parameter; the app refuses longer headers

runs = st.tuples(st.sampled_from(UNITS), st.sampled_from(LENGTHS))


def text_of(unit, length):
    """A run between two letters, since the end of a text is often cut off."""
    return "x" + unit * (length // len(unit)) + "y"


def ways(everything):
    """A function and its arguments, for each text of what can be called, of the settings of a view, and of a link."""
    visitor, model = everything[0].visitor, everything[0].model
    view = next(target for target in everything if target.name == "/view")
    called = [
        (target, place)
        for target in everything
        for place, value in enumerate(target.first)
        if isinstance(value, str) and value != model and not target.streams
    ]
    settings, quick = _settings(), [row for row in _settings() if not issubclass(VIEWS[row[2]], LongView) or _typed(row[3])]

    def call(place, run):
        (target, at), text = called[place], text_of(*run)
        data = [text if number == at else value for number, value in enumerate(target.first)]
        target.send(Call(data, {"index": 0, "value": text} if target.clicked else None, False))

    def ask_view(place, run):
        (_, _, name, setting), text = quick[place], text_of(*run)
        given = {"name": name, "text_a": "a [MASK] b", "settings": {setting: text} | _typed(setting)}
        data = [given.get(argument["parameter_name"], "") for argument in visitor.endpoints["/view"]["parameters"]]
        visitor.call(view.id, data, secrets.token_hex(8), sent=text)

    def follow(place, run, field):
        (tab, choice, _, setting), text = settings[place], text_of(*run)
        given = pack(text.encode("utf-8", "replace").decode())[:MOST]
        rest = {f"set.{name}": value for name, value in _typed(setting).items()}
        query = urlencode({"v": 1, "tab": tab, "view": choice, **rest, field or f"set.{setting}": given})
        computed = (TAKEN,) if settings[place] in quick else ()  # other views would work for minutes
        for address in (CHECKED, *computed):
            answer = visitor._exchange("GET", f"{address}?{query}")
            if answer.status != 200:
                check_sentence(answer.json()["error"], text)

    return st.one_of(
        st.tuples(st.just(call), st.integers(0, len(called) - 1), runs),
        st.tuples(st.just(ask_view), st.integers(0, len(quick) - 1), runs),
        st.tuples(st.just(follow), st.integers(0, len(settings) - 1), runs, st.sampled_from([None, None, *LINKED])),
    )


def _settings():
    """Tab, choice, view and setting, for all settings that are texts in a link."""
    return [
        (tab.id, slug(choice), kind.name, name)
        for tab in TABS
        for choice in tab.choices
        for kind in seen_in(tab, choice)
        for name, setting in kind.settings.items()
        if setting.linked and isinstance(setting, Text | Memory | Choice | Several)
    ]


def _typed(setting):
    """What makes the app read what is typed."""
    return {"source": setting} if setting in ("typed", "template", "pairs") else {}
