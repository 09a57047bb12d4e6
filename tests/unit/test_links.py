"""Links: whatever is set comes back, whatever makes no sense is told, and links of former days keep working."""

import base64
import zlib
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest

from explorer.core.errors import InputError
from explorer.export import links
from explorer.export.asking import Unpacking, pack
from explorer.export.links import Place
from explorer.tabs import TABS
from explorer.ui.subject import Selection, Subject
from explorer.ui.tabs import Moved
from tests.choices import TEXTS, other_values

MOST_OF_A_LINK = 12_000  # characters of settings, unpacked
BUNDLED = "bert-l6-h384-uncased"
DEFAULT = Subject(BUNDLED, "The cat sat on the mat.", "")
NONSENSE = ("", "x" * 10_000, "-1", "²", "[" * 5_000, "~", "~AAAA", "NaN", "1e999", "${x}", "null", "9" * 500)


def parameters_of(place) -> dict[str, str]:
    return dict(parse_qsl(links.query(place), keep_blank_values=True, strict_parsing=True))


def there_and_back(place, default=DEFAULT):
    return links.read(parameters_of(place), default)


@pytest.fixture(scope="module")
def default_in(bundled, variant_folders):
    """A subject whose model has the tab."""
    tuned = Subject(str(variant_folders["classifier"]), DEFAULT.text_a, "")
    return lambda tab: tuned if tab.optional else DEFAULT


def rows_of(settings, values_of):
    """Settings with values, every value in one of the rows at least, and other settings beside it changed too."""
    values = {name: values_of(name, setting) for name, setting in settings.items()}
    for row in range(max(map(len, values.values()), default=0)):
        yield {name: of_it[(row + at) % len(of_it)] for at, (name, of_it) in enumerate(values.items())}


@pytest.mark.parametrize("tab", TABS, ids=[tab.id for tab in TABS])
def test_every_setting_of_every_view_comes_back(default_in, tab):
    default = default_in(tab)
    capabilities = default.model.capabilities
    assert len(set(map(links.slug, tab.choices))) == len(tab.choices)
    for choice in tab.choices:
        kinds = links.seen_in(tab, choice)
        plain = links.read({"v": "1", "tab": tab.id, "view": links.slug(choice)}, default)
        assert (plain.tab, plain.choice, plain.told) == (tab.id, choice, ())
        assert there_and_back(plain) == plain
        views = plain.views
        known = {name: (kind, setting) for kind in kinds for name, setting in kind.settings.items() if setting.linked}

        def values_of(name, found):
            kind, setting = found
            return other_values(setting, kind.__dataclass_fields__[name].default, capabilities)

        for row in rows_of(known, values_of):
            given = {name: list(value) if isinstance(value, tuple) else value for name, value in row.items()}
            own = [{name: value for name, value in given.items() if name in kind.settings} for kind in kinds]
            views = tuple(kind.read(values, capabilities) for kind, values in zip(kinds, own, strict=True))
            place = Place(default, tab.id, choice, views)
            if sum(map(len, place.settings.values())) > MOST_OF_A_LINK:
                continue  # several long texts: together they are too long for a link
            back = there_and_back(place)
            assert back == place, row
            assert back.told == ()
            assert {key for key in parameters_of(place) if key.startswith("set.")} == {f"set.{name}" for name in known}
        for view in views:  # those of the last row
            assert view in links.read(dict(parse_qsl(links.of(view, default), keep_blank_values=True)), default).views


@pytest.mark.parametrize("tab", TABS, ids=[tab.id for tab in TABS])
def test_no_setting_is_too_odd_for_a_link(default_in, tab):
    for choice in tab.choices:
        kinds = links.seen_in(tab, choice)
        settings = {name: None for kind in kinds for name in kind.settings}
        for row in rows_of(settings, lambda *_: NONSENSE):
            asked = {"tab": tab.id, "view": links.slug(choice), **{f"set.{name}": nonsense for name, nonsense in row.items()}}
            place = links.read(asked, default_in(tab))
            assert (place.tab, place.choice, [type(view) for view in place.views]) == (tab.id, choice, kinds)
            for sentence in place.told:
                assert sentence.endswith((".", ")"))
                assert sentence.isprintable()
                assert len(sentence) < 400
            again = there_and_back(place) if all(len(text) < 5_000 for text in place.settings.values()) else place
            assert again == place


def test_a_choice_that_moved_opens_where_it_went_and_a_sentence_says_so(bundled, monkeypatch):
    attention = next(tab for tab in TABS if tab.id == "attention")
    went = Moved("It went to Attention.", "attention", "several-heads", {"layer": "2"})
    monkeypatch.setattr("explorer.export.asking.tab_of", lambda name: replace(attention, moved={"gone": went}))
    place = links.read({"tab": "attention", "view": "gone"}, DEFAULT)
    assert (links.slug(place.choice), place.settings, place.told) == ("several-heads", {"layer": "2"}, (went.told,))
    assert links.read({"tab": "attention", "view": "gone", "set.layer": "3"}, DEFAULT).settings == {"layer": "3"}


@pytest.mark.parametrize(("tab", "gone"), [(tab, gone) for tab in TABS for gone in tab.moved])
def test_what_moved_leads_somewhere(bundled, tab, gone):
    went = tab.moved[gone]
    assert gone not in map(links.slug, tab.choices)
    place = links.read({"tab": tab.id, "view": gone}, DEFAULT)
    assert (place.tab, place.told) == (went.tab, tuple(filter(None, [went.told])))
    assert went.view in ("", links.slug(place.choice))
    assert place.settings == went.settings


@pytest.mark.parametrize(
    "subject",
    [
        Subject(BUNDLED, "a & b = c?", "", Selection(0, 12, 0, True)),
        Subject(BUNDLED, "", "B alone", Selection(6, 1, None, True)),
        Subject(BUNDLED, "0", "0", Selection(1, 1, 0, False)),
        Subject(BUNDLED, "She sat on the bank.", "~b", Selection(1, 2, 3, True, ((0, 0), (5, 11)), ("bank", "bench"), (6, 0))),
        Subject(BUNDLED, "She sat.", "", Selection(1, 2, None, True, cut=((0, 0, 4, None), (5, 2, 3, 0), (5, 2, 3, 11)))),
        Subject(BUNDLED, "<img src=x> ${x} %41", "+ + +", Selection(3, 4, 5, True)),
        Subject(BUNDLED, "long text " * 300, "~" * 300, Selection()),
    ],
)
def test_a_link_brings_input_and_selection_back(bundled, subject):
    place = Place(subject, "attention", "One head", links.read({"tab": "attention"}, DEFAULT).views)
    assert there_and_back(place) == place
    assert there_and_back(place).told == ()


def test_another_model_comes_back(tiny, tiny_folder):
    place = links.read({"model": str(tiny_folder), "tab": "attention", "layer": "2"}, DEFAULT)
    assert place.subject.model.name == tiny.name
    assert there_and_back(place) == place


def test_no_parameters_give_what_a_page_opens_with(bundled):
    place = links.read({}, DEFAULT)
    assert (place.subject, place.tab, place.told) == (DEFAULT, "overview", ())
    assert not links.asks([])
    assert not links.asks(["__theme"])


def test_what_nobody_picked_is_left_to_the_view(bundled):
    assert not links.read({"a": "hello", "tab": "attention"}, DEFAULT).subject.chosen.picked
    assert links.read({"head": "2"}, DEFAULT).subject.chosen.picked
    chosen_by_the_view = links.read({"tab": "attention"}, DEFAULT).opened()
    assert chosen_by_the_view.subject.selection.head > 1
    assert "layer" not in parameters_of(chosen_by_the_view)


def test_a_link_with_a_alone_has_no_b(bundled):
    assert links.read({"a": "hello"}, Subject(BUNDLED, "x", "default b")).subject.text_b == ""


def old(choice, selected=(1, 1, None), **settings):
    """What an old link opens: a choice, the layer, head and token that it selects, and settings."""
    return choice, selected, settings


OLD = {  # as people have them in their notes: these never change
    "layer=5&head=3&tab=attention&a=Hello+there&b=&token=2": old("One head", (5, 3, 2)),
    "v=1&tab=attention&view=several-heads&a=Hello&set.heads=1,2,12&set.layer=4": old("Several heads", heads=(1, 2, 12), layer=4),
    "v=1&tab=fill-mask&view=lens&a=The+[MASK]+sat.&layer=0&head=1&set.follow=cat, dog": old(
        "Lens", (0, 1, None), follow="cat, dog"
    ),
    "v=1&tab=fill-mask&view=pre-training-game&a=A+word&set.seed=41&set.rate=0.5&set.swap=0&set.strategy=words": old(
        "Pre-training game", seed=41, rate=0.5, swap=False, strategy="words"
    ),
    "v=1&tab=projection&a=x&set.picked=%5B%5B2%5D%2C%2200ff%22%5D&set.search=&set.seed=0&set.dimensions=3": old(
        "Map", picked=((2,), "00ff"), search="", seed=0, dimensions=3
    ),
}


@pytest.mark.parametrize("link", OLD)
def test_links_of_former_days_keep_working(bundled, link):
    (choice, selected, settings), given = OLD[link], dict(parse_qsl(link, keep_blank_values=True))
    place = links.read(given, DEFAULT)
    chosen = place.subject.chosen
    assert place.told == ()
    assert {name: value for view in place.views for name, value in vars(view).items() if name in settings} == settings
    assert (place.tab, place.choice, (chosen.layer, chosen.head, chosen.token)) == (given["tab"], choice, selected)


def test_a_link_to_the_former_matrix_of_sentences_opens_them_on_the_map(bundled):
    typed = "Hello there.\nIt rained."
    place = links.read({"tab": "hidden", "view": "sentences", "a": "x", "set.sentences": typed}, DEFAULT)
    assert (place.tab, place.choice, place.settings) == ("projection", "Map", {"sentences": typed})
    assert place.views[0].sentences == typed


TOLD = {
    "layer=99": "The link asked for layer 99; this model has 6, so it shows layer 6.",
    "head=13": "The link asked for head 13; this model has 12, so it shows head 12.",
    "head=0": "The head must be a whole number from 1 to 12, not 0.",
    "token=500": "The token must be a whole number from 0 to 8, not 500.",
    "off=1.2,9.1": "The layer must be a whole number from 1 to 6, not 9. The link's off is ignored.",
    "off=1.2.3": "Send the heads as a list of at most 72 pairs [layer, head], such as [[1, 1]]. The link's off is ignored.",
    "swap=one": "The swap must be two words: one of the input, and another one with as many pieces. The link's swap is ignored.",
    "swap=dog,horse": "The swap must be two words: one of the input,",
    "cut=1.2": "Send the cuts as a list of [layer, query, key, head], such as [[1, 3, 2, 0]];",
    "cut=1.1.1.1,0.1.1.1": "The layer must be a whole number from 1 to 6, not 0. The link's cut is ignored.",
    "cut=1.1.².1": "The key must be a whole number from 0 to 8, not '²'. The link's cut is ignored.",
    "cut=6.1.99.0,6.1.2.0": "The key must be a whole number from 0 to 8, not 99. The link's cut is ignored.",
    "cut=6.1.1.13": "The head must be a whole number from 0 to 12, not 13. The link's cut is ignored.",
    f"cut={','.join(f'{1 + at % 6}.{at % 7}.{at // 7}.0' for at in range(33))}": "You gave 33 cuts. Keep 32 or fewer.",
    "patch=1.1": "The patch must be a hidden state and a token, such as [6, 3], beside a swap. The link's patch is ignored.",
    "tab=own-head": "This model has nothing to show in Its own head; Overview is shown.",
    "tab=nowhere": "The app has no tab 'nowhere'; Overview is shown.",
    "tab=attention&view=nothing": "Attention has no view 'nothing'; One head is shown.",
    "set.colour=red": "The link contains settings that this view lacks ('colour'); they are ignored.",
    "tab=attention&set.top_p=1000": "The link asked for '1000' as the setting 'Strongest weights, % of each row",
    "model=no such model": "no such model is neither a folder nor an id on the hub such as google-bert/bert-base-uncased.",
}


@pytest.mark.parametrize("link", TOLD)
def test_what_makes_no_sense_is_told_in_a_sentence(bundled, link):
    place = links.read(dict(parse_qsl(link, keep_blank_values=True)), DEFAULT)
    assert len(place.told) == 1
    assert place.told[0].startswith(TOLD[link])
    assert there_and_back(place) == place
    assert there_and_back(place).told == ()


def unpacked(text: str) -> str:
    return Unpacking(20_000).unpacked(text, 20_000)


def bomb(characters: int) -> str:
    return "~" + base64.urlsafe_b64encode(zlib.compress(b"a" * characters, 9)).decode().rstrip("=")


@pytest.mark.parametrize("name", ["a", "set.sentences", "set.picked"])
def test_a_bomb_is_told_and_does_no_harm(bundled, name):
    place = links.read({"tab": "projection", name: bomb(40_000_000)}, DEFAULT)
    assert any("far too long" in sentence for sentence in place.told)
    assert place.views == links.read({"tab": "projection"}, DEFAULT).views


def test_long_texts_are_packed_and_bombs_are_not_unpacked():
    text = "The soup needs a little more salt. | food\n" * 40
    assert len(pack(text)) < len(text) / 5
    for one in (text, *TEXTS):
        assert unpacked(pack(one)) == one
    for broken in ("~", "~A", "~====", "~AAAA", pack(text)[:-8], pack(text) + "AAAA", "~é"):
        with pytest.raises(InputError):
            unpacked(broken)
    with pytest.raises(InputError, match="far too long"):
        unpacked(bomb(10_000_000))


def test_the_texts_of_a_link_are_bounded_together(bundled):
    assert unpacked(bomb(20_000)) == "a" * 20_000
    with pytest.raises(InputError, match="far too long"):
        unpacked(bomb(20_001))
    together = Unpacking(30_000)
    assert len(together.unpacked(bomb(20_000), 20_000)) == 20_000
    with pytest.raises(InputError, match="far too long"):
        together.unpacked(bomb(20_000), 20_000)
    link = {"tab": "projection", "a": bomb(20_000), "set.sentences": bomb(1_000_000), "set.picked": bomb(1_000_000)}
    told = links.read(link, DEFAULT).told
    assert len([one for one in told if "far too long" in one]) == 1, "one box is full, and another is too much"


def test_a_link_that_would_be_too_long_is_refused(bundled):
    letters = "".join(chr(0x4E00 + (i * i * 7919 + i * 31) % 20_000) for i in range(9_000))
    with pytest.raises(InputError, match="too long for a link"):
        links.query(links.read({"tab": "attention"}, Subject(BUNDLED, letters, "")))
    with pytest.raises(InputError, match="half a character"):
        links.query(Place(Subject(BUNDLED, "\ud800", ""), "attention", "One head", ()))
