"""Values of settings: the defaults of a view, and others."""

from dataclasses import fields

from explorer.ui.settings import Choice, Memory, Number, Several, Sheet, Switch, Text

TEXTS = ("", "0", "~", "~~a", "a & b = c? #+%41", "one\ntwo | three\n", "🍎 مرحبا ß", "word " * 900, "~" + "x" * 400)
# What clicks may leave in a memory:
CARDS = [["good", ["One.", "Two."]], ["bad", []]]
LEFT_BEHIND = ([[3, 5], "a1b2"], [1, 0], [2, 3, 1, 0, 3], 4, ["praise", 0, 1], 0, [2], [3, 0, 1], "a kind of pairs", CARDS)


def other_values(setting, default, capabilities) -> list:
    """Values of every sort that there is."""
    match setting:
        case Choice(free=True):
            values = ["a, b & c", "0", *([] if "" in setting.values else [None])]
        case Choice():
            values = setting.values
        case Switch():
            values = [not default]
        case Several():
            options = list(setting.options(capabilities))
            values = [tuple(options[:1]), tuple(options), ()]
        case Number():
            low, high = setting.range(capabilities)
            middle = (low + high) // 2 if isinstance(setting.step, int) else round((low + high) / 2, 4)
            values = [low, high, middle]
        case Text():
            values = [text for text in TEXTS if len(text) <= setting.limit.most]
        case Memory():
            values = [setting.kept(one) for one in LEFT_BEHIND]
    return [value for value in dict.fromkeys(values) if value != default]


def declared(kind) -> dict:
    """The defaults of a view's settings, but for its sheets."""
    return {one.name: one.default for one in fields(kind) if not isinstance(kind.settings[one.name], Sheet)}
