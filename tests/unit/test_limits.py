"""Checks of what comes in: what is fine comes through, all else is refused in a sentence."""

import itertools
import math

import numpy as np
import pytest

from explorer.core.errors import InputError
from explorer.core.limits import CHARACTERS, COMPARED, TEXTS
from explorer.tabs import VIEWS
from explorer.text import limits
from explorer.ui.settings import Number

READABLE = {
    "a sentence": "The man went to the store.",
    "emoji": "I ❤️ milk 🥛👨‍👩‍👧",
    "right to left": "\u202bשלום עולם\u202c",
    "html": "<script>alert('x')</script><img src=x onerror=alert(1)>",
    "control characters inside": "the\x00 man\x07\x1b[31m went\u200b",
    "line breaks": "the man\r\nwent\tto\u2028the store",
    "as long as allowed": "a " * (CHARACTERS.most // 2),
}
EMPTY = {
    "nothing typed": "",
    "blanks": " \t\r\n\u3000\u2028",
    "control characters": "\x00\x01\x07\x7f\x9f",
    "invisible characters": "\u200b\u200d\ufeff\u202e",
}
NOT_LISTS = [math.nan, True, 5, 1e9, None, {"a": "dict"}, 1j]
NOT_TEXTS = [*NOT_LISTS, b"bytes", ["a list"], "\ud800", "the man \udfff went"]
NOT_IN_RANGE = [
    *(math.nan, math.inf, -math.inf, True, False, None, "5", "", "${alert(1)}", "\ud800\n", "x" * 100_000, b"5"),
    *(1e9, -1e9, 10**400, -(10**5000), 7, 2.5, 3 + 0j, [3], {"layer": 3}, 1j, np.array([1, 2]), np.bool_(True)),
]


def kind(value):
    return type(value).__name__


@pytest.mark.parametrize("text", READABLE.values(), ids=READABLE)
def test_a_text_comes_through_unchanged(text):
    assert limits.check_text(text) is text
    assert limits.check_optional_text(text, "text B") is text
    assert limits.check_texts([text, text]) == [text, text]


@pytest.mark.parametrize("text", EMPTY.values(), ids=EMPTY)
def test_an_empty_text_is_refused_unless_it_is_optional(text, refusal):
    assert refusal(InputError, lambda: limits.check_text(text, "text A")) == "Text A is empty. Type a sentence."
    assert "Text 2 " in refusal(InputError, lambda: limits.check_texts(["fine", text]))
    assert limits.check_optional_text(text, "text B") == ""


@pytest.mark.parametrize("text", NOT_TEXTS, ids=ascii)
def test_what_is_no_text_is_refused(text, refusal):
    refusal(InputError, lambda: limits.check_text(text))
    assert "Text 1 " in refusal(InputError, lambda: limits.check_texts([text]))
    if text is None:
        assert limits.check_optional_text(text, "text B") == ""
    else:
        refusal(InputError, lambda: limits.check_optional_text(text, "text B"))


@pytest.mark.parametrize("text", ["x" * 100_000, " " * 100_000, "🥛" * (CHARACTERS.most + 1)], ids=len)
def test_a_text_that_is_too_long_is_refused_with_both_lengths(text, refusal):
    for check in (limits.check_text, limits.check_optional_text):
        sentence = refusal(InputError, lambda check=check: check(text, "text A"))
        assert f"has {len(text):,} characters. Shorten it to {CHARACTERS.most:,}" in sentence


@pytest.mark.parametrize("texts", [*NOT_LISTS, [], (), "a sentence", b"bytes", iter(["a"]), {"a"}], ids=kind)
def test_what_is_no_list_of_texts_is_refused(texts, refusal):
    refusal(InputError, lambda: limits.check_texts(texts))


def test_too_many_texts_are_refused_with_both_numbers(refusal):
    assert len(limits.check_texts(["a"] * 50, COMPARED)) == 50
    assert f"{TEXTS.most + 1:,} texts. Keep {TEXTS.most:,}" in refusal(
        InputError, lambda: limits.check_texts(["a"] * (TEXTS.most + 1))
    )


@pytest.mark.parametrize("value", [1, 6, 1.0, 6.0, np.int64(3), np.float32(4), np.uint8(2)], ids=kind)
def test_a_number_in_range_becomes_pythons_and_an_index_counts_from_zero(value):
    checked = limits.check_integer(value, "the layer", 1, 6)
    assert type(checked) is int
    assert checked == value
    assert limits.layer_index(value, 6) == limits.head_index(value, 6) == checked - 1
    assert limits.hidden_state_index(value, 6) == checked
    assert type(limits.check_number(value, "the rate", 0, 6)) is float


@pytest.mark.parametrize("value", NOT_IN_RANGE, ids=kind)
def test_what_is_no_number_in_range_is_refused(value, refusal):
    assert "from 1 to 6" in refusal(InputError, lambda: limits.check_integer(value, "the layer", 1, 6))
    assert "from 0 to 1" in refusal(InputError, lambda: limits.check_number(value, "the rate", 0, 1))
    for index in (limits.layer_index, limits.head_index, limits.hidden_state_index):
        refusal(InputError, lambda index=index: index(value, 6))


def test_the_last_layer_is_minus_one_and_just_outside_is_refused(refusal):
    assert limits.layer_index(-1, 6) == 5
    assert limits.hidden_state_index(-1, 6) == 6
    assert limits.hidden_state_index(0, 6) == 0
    for off in (0, -2, 7):
        refusal(InputError, lambda off=off: limits.layer_index(off, 6))
        refusal(InputError, lambda off=off: limits.head_index(off, 6))
        refusal(InputError, lambda off=off: limits.hidden_state_index(off or 8, 6))


@pytest.mark.parametrize("value", [None, 0, "ab", [0], [0, 1, 2], [0, -1], [0, None], [[0], 0], [0.5, 0], {"row": 0}], ids=kind)
def test_a_cell_is_a_row_and_a_column(value, refusal):
    assert limits.check_cell([2, 3]) == limits.check_cell((2.0, 3)) == (2, 3)
    refusal(InputError, lambda: limits.check_cell(value))


@pytest.mark.parametrize("value", [*NOT_IN_RANGE, "CLS", " cls", "cls,mean"], ids=kind)
def test_what_is_none_of_the_choices_is_refused_with_the_list(value, refusal):
    assert limits.check_choice("cls", "the pooling", ("cls", "mean")) == "cls"
    sentence = refusal(InputError, lambda: limits.check_choice(value, "the pooling", ("cls", "mean")))
    assert sentence.startswith("The pooling must be one of cls, mean")


def test_a_long_list_of_choices_stays_a_sentence(refusal):
    choices = [f"choice {number}" for number in range(500)]
    said = refusal(InputError, lambda: limits.check_choice("\u200b" * 100, "the choice", choices))
    assert said.startswith("The choice must be one of choice 0, choice 1, ")
    assert "and others, not '" in said
    assert len(said) < 300
    assert said.isprintable()


def test_a_setting_refuses_or_moves_a_number_that_no_float_holds(bundled):
    has = bundled.capabilities
    numbers = [setting for kind in VIEWS.values() for setting in kind.settings.values() if isinstance(setting, Number)]
    for setting, value in itertools.product(numbers, (10**400, -(10**400), math.nan, math.inf)):
        try:
            low, high = setting.range(has)
            assert low <= setting.check(value, "the number", has) <= high
        except InputError:
            pass
