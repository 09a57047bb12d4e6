from urllib.parse import parse_qsl

import pytest

from explorer.outlets import links
from explorer.views.subject import Selection, Subject

DEFAULT = Subject("bert-l6-h384-uncased", "default a", "default b", Selection(1, 1))


@pytest.mark.parametrize(
    "view",
    [
        Subject("bert-l6-h384-uncased", "a & b = c?", "", Selection(0, 12, 0, True)),
        Subject("some/model", "emoji 🍎 مرحبا", "B", Selection(6, 1, None, True)),
        Subject("bert-l6-h384-uncased", "a", "b", Selection(1, 2, 3, True, ((0, 0), (5, 11)), ("café", "x"), (6, 0))),
        Subject("bert-l6-h384-uncased", "<img src=x> ${x} %41", "+ + +", Selection(3, 4, 511, True)),
    ],
)
def test_a_link_brings_the_view_back(view):
    assert links.read(dict(parse_qsl(links.query(view, "attention"), keep_blank_values=True)), DEFAULT) == view


def test_no_parameters_give_the_default():
    assert links.read({}, DEFAULT) == DEFAULT


def test_only_a_link_that_names_a_layer_or_head_has_picked_them():
    assert not links.read({"a": "hello", "tab": "attention"}, DEFAULT).chosen.picked
    assert links.read({"head": "2"}, DEFAULT).chosen.picked


def test_a_link_with_a_alone_has_no_b():
    assert links.read({"a": "hello"}, DEFAULT).text_b == ""


@pytest.mark.parametrize("value", ["-1", "x", "", "1e3", "²", "9" * 5000, "1.5", "None"])
def test_numbers_that_make_no_sense_are_as_in_the_default(value):
    assert links.read({"layer": value, "head": value, "token": value}, DEFAULT).chosen == DEFAULT.chosen


@pytest.mark.parametrize("value", ["1", "0.1", "1.2.3", "1.2,", "1.2,x.1", ",", "", "1.-1", "9" * 5000])
def test_heads_that_make_no_sense_are_all_on(value):
    assert links.read({"off": value}, DEFAULT).chosen.off == ()


@pytest.mark.parametrize("value", ["a", "a,b,c", "two words,one", ",", "a,", "a," + "b" * 5000])
def test_words_that_make_no_sense_are_not_swapped(value):
    assert links.read({"swap": value, "patch": value}, DEFAULT).chosen == DEFAULT.chosen
