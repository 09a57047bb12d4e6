"""A page takes every setting of a link, and makes the same link of what it then shows."""

import gradio as gr
import pytest

from explorer.export import links
from explorer.export.links import Place
from explorer.page.examples import first_subject
from explorer.page.shell import build_shell
from explorer.tabs import TABS
from explorer.ui.settings import Several
from tests.choices import other_values

CHOICES = [(tab, choice) for tab in TABS for choice in tab.choices]


@pytest.fixture(scope="module")
def shell():
    return build_shell()[1]


def plain(update):
    """The value in an update of the page, and what else it changes of the component."""
    if isinstance(update, dict) and update.get("__type__") == "update":
        return update.get("value"), {name: what for name, what in update.items() if name not in ("__type__", "value")}
    return update, {}


def values_after(tab, updates):
    """The values of the page once the updates are there, as handlers get them."""
    values = {one: one.value["data"] if isinstance(one, gr.Dataframe) else one.value for one in tab.all_inputs}
    for component, update in updates.items():
        value, changed = plain(update)
        for name, what in changed.items():
            setattr(component, name, [(str(one), one) for one in what] if name == "choices" else what)
        if not getattr(component, "stateful", False):
            value = component.preprocess(component.postprocess(value))  # raises for what the component cannot hold
        values[component] = value
    return values


@pytest.mark.parametrize(("tab", "choice"), CHOICES, ids=[f"{tab.id} {choice}" for tab, choice in CHOICES])
def test_every_setting_reaches_its_control_and_the_address(bundled, shell, tab, choice):
    capabilities, page, kinds = bundled.capabilities, shell.tabs[tab.id], links.seen_in(tab, choice)
    for kind in kinds:
        for name, setting in kind.settings.items():
            if not setting.linked:
                continue
            for value in other_values(setting, kind.__dataclass_fields__[name].default, capabilities)[:3]:
                given = {name: list(value) if isinstance(setting, Several) else value}
                views = tuple(one.read(given if name in one.settings else {}, capabilities) for one in kinds)
                place = Place(first_subject(), tab.id, choice, views)
                values = values_after(page, page.arrive(place))
                assert page.place(place.subject, values).settings == place.settings, (name, value)
                assert page.follow(place.subject, values) == {page.address: links.query(place)}


def test_settings_that_a_handler_does_not_get_stay_in_the_address(bundled, shell):
    page = shell.tabs["attention"]
    views = (kind() for kind in links.seen_in(page.tab, "One head"))
    subject = first_subject()
    before = "v=1&tab=attention&a=x&set.top_p=90&set.look=Lines"
    everything = {component: component.value for component in page.all_inputs} | {page.address: before}
    known = {one: value for one, value in everything.items() if one is not page.controls["top_p"]}
    assert page.place(subject, known).settings == {"top_p": "90", "look": "Lines"}
    assert page.place(subject, everything).settings == {}, "what is on the page counts more"
    elsewhere = known | {page.address: before.replace("attention", "fill-mask")}
    assert page.place(subject, elsewhere).settings == Place(subject, "attention", "One head", tuple(views)).settings


def test_what_a_link_cuts_is_kept_with_the_page_until_the_text_is_another(bundled, shell):
    page, a = shell.tabs["attention"], "The capital of Japan is [MASK]."
    place = links.read({"tab": "attention", "a": a, "cut": "6.6.4.0"}, first_subject())
    inputs, values = page.inputs, values_after(page, page.arrive(place))
    values |= {inputs.model_name: bundled.name, inputs.text_a: a, inputs.text_b: "", inputs.selection: place.subject.chosen}
    shown = page.show(inputs.subject(values), values)
    (what_if,) = [panel for panel in page.panels if panel.view.name == "attention/what-if"]
    chips, _ = plain(shown[what_if.parts["back"]])
    assert chips["chips"] == ["japan → [MASK] in layer 6 (all heads)"]
    assert shown[inputs.selection].cut == ((5, 6, 4, None),)
    assert "&cut=6.6.4.0" in shown[page.address]
    values |= {inputs.selection: shown[inputs.selection], inputs.text_a: "I think that Japan is [MASK]."}
    after = page.show(inputs.subject(values), values)  # the same two words in the same places
    assert after[inputs.selection].cut == ((5, 6, 4, None),)
    values |= {inputs.selection: after[inputs.selection], inputs.text_a: "Oh, the capital of Japan is [MASK]."}
    after = page.show(inputs.subject(values), values)
    assert after[inputs.selection].cut == ()
    assert "cut=" not in after[page.address]


def test_what_no_link_can_hold_leaves_the_address_empty(bundled, shell):
    page = shell.tabs["projection"]
    values = {component: component.value for component in page.all_inputs}
    letters = "".join(chr(0x4E00 + (i * i * 7919 + i * 31) % 20_000) for i in range(9_000))
    assert page.follow(first_subject(), values | {page.controls["sentences"]: letters}) == {page.address: ""}
    assert page.follow(first_subject(), values | {page.controls["neighbors"]: 999}) == {}, "a setting that is wrong is told"


def test_a_page_hears_of_all_that_a_place_may_change(shell):
    changed = set(shell.of_a_place)
    for tab in TABS:
        page = shell.tabs[tab.id]
        for choice in tab.choices:
            place = Place(first_subject(), tab.id, choice, tuple(kind() for kind in links.seen_in(tab, choice)))
            updates = shell.arrive(place, {shell.models.recent: []}, is_built=True)
            assert updates.keys() <= changed
            assert isinstance(updates[shell.tab_bar], gr.Tabs)
            assert page.address in page.inputs_of([])
