"""All of BERT in one picture: what it says is what the numbers below it and transformers itself say."""

import base64
import re

import numpy as np
import pytest
import torch

from explorer.core.errors import InputError
from explorer.experiments.compute.minimal_pairs import suite_items
from explorer.inside_head.steps import DotProducts
from explorer.overview.compute import link_losses, trust
from explorer.overview.pictures import LEVELS
from explorer.overview.routes import Routes
from explorer.overview.run import ROWS, selected_run
from explorer.overview.telling import HALF, KEPT, NAMED, target_of, tell
from explorer.overview.trust import MEASURED, Trust
from explorer.techniques import ablation, routes, targets
from explorer.techniques.ablation import Run
from explorer.techniques.inside import head_step
from explorer.techniques.routes import Route, mixing, place_shares, strongest_heads
from explorer.techniques.targets import is_next_target, own_reading, word_target
from explorer.ui.pictures.bars import short_percent
from explorer.ui.pictures.numbers import numbers_of
from explorer.ui.subject import CHANGES
from tests.decomposing import head_shares
from tests.unit.views.test_says import CITY, JAPAN, subject

LONG = "The committee met again on Monday to discuss the report that the minister had asked for. " * 20


SUITES = {"facts": 2, "agreement": 16, "negation": 16, "prepositions": 16, "pronouns": 16}  # every so many of their sentences


def picture(about, **settings):
    return Routes(**settings).compute(about)["picture"]


def mixing_in(value):
    rows, layers = len(value["tokens"]), value["states"] - 1
    return np.frombuffer(base64.b64decode(value["mixing"]), "<u2").reshape(layers, rows, rows) / LEVELS


def test_its_mixing_last_words_and_answers_are_the_models_own(bundled):
    about = subject()
    value = picture(about)
    np.testing.assert_allclose(mixing_in(value), mixing(ablation.Run(about.trace)).shares, atol=1 / LEVELS)
    assert value["tokens"] == list(about.trace.tokens)
    own = bundled.own_masked_lm(about.trace.encoding).softmax(-1)
    for row, words in enumerate(value["words"][-1]):
        best = own[row].topk(5)
        assert [word for word, _ in words] == bundled.pieces(best.indices.tolist())
        assert [share for _, share in words] == pytest.approx(best.values.tolist(), abs=1e-5)
    pair, blank = value["answers"]
    own = bundled.own_pair(about.trace.encoding).softmax(-1).tolist()
    assert [bar[1] for bar in pair["bars"]] == pytest.approx(own, abs=1e-5)
    assert blank["bars"][0][0] == "tokyo"
    assert all(before is None for *_, before in [*pair["bars"], *blank["bars"]])
    unrelated = picture(subject("We ran out of flour this morning.", "Saturn is the second largest planet."))
    assert unrelated["stops"][-1]["text"].endswith("the head for pairs reads NotNext with more than 99%.")


@pytest.mark.parametrize(
    ("text_a", "text_b", "opens_on"), [(JAPAN, CITY, "[MASK]"), ("The cat sat.", "It slept.", "[CLS]"), ("Yes", "", "yes")]
)
def test_it_opens_on_the_blank_else_on_a_pair_else_on_a_word(bundled, text_a, text_b, opens_on):
    value = picture(subject(text_a, text_b))
    assert value["tokens"][value["target"]["row"]] == opens_on
    assert value["target"]["state"] == bundled.capabilities.layers


@pytest.mark.parametrize("text", ["The animal did not cross the street because it was too tired.", "I love pizza."])
def test_without_blank_or_pair_it_opens_on_the_word_that_takes_most_from_others(bundled, text):
    about = subject(text, "")
    words = about.trace.encoding.text_positions[:-1]  # the full stop is none
    own = [place_shares(mixing(ablation.Run(about.trace)).shares, place)[0, place] for place in words]
    assert picture(about)["target"]["row"] == words[int(np.argmin(own))]


def test_a_hidden_state_is_followed_of_the_token_that_was_chosen_with_it(bundled):
    change = Routes().on_picture(subject(), {"state": 3, "token": 4})
    assert picture(subject(**change.selection), **change.settings)["target"] == {"state": 3, "row": 4}
    assert picture(subject(), state=3)["target"] == {"state": 6, "row": 6}, "another text: no token is chosen"


def test_the_finding_names_the_strongest_link_and_what_is_left_without_it(bundled):
    about = subject()
    found = Routes().finding(about)
    strongest = next(row for row in numbers_of(picture(about)).rows if row[1] != row[3] and row[3] != 6)
    target = targets.word_target(about.trace, "tokyo")
    changed = Run(about.trace, cuts=[(strongest[0] - 1, strongest[1], strongest[3], None)]).states[-1]
    left = float(targets.read(bundled, target, changed[None]).probability)
    before = float(targets.own_reading(about.trace, target).probability)
    assert found.text == (
        f"“[MASK]” becomes “tokyo” ({before:.0%}), drawing most on “{strongest[4]}” in layer {strongest[0]} "
        f"({strongest[6]:.0%} there); without that link tokyo falls from {before:.0%} to {short_percent(left)}."
    )
    assert (found.why.selection["layer"], found.why.selection["token"]) == (strongest[0], strongest[1])
    route = Route(strongest[0] - 1, strongest[1], strongest[3], 0.0)
    (own,) = strongest_heads(Run(about.trace), [route])
    assert found.why.selection["head"] - 1 == own, "it leads to the head that brings most of that route"


def test_what_is_named_first_is_mostly_what_matters_most_of_ten(bundled):
    named, right = 0, 0
    sentences = {suite: list(dict.fromkeys(item.text_a for item in suite_items(suite))) for suite in SUITES}
    for text in [re.sub(r"\*([^/*]+)(/[^*]*)?\*", r"\1", one) for suite, by in SUITES.items() for one in sentences[suite][::by]]:
        about, view = subject(text, ""), Routes()
        run = selected_run(about)
        followed = view._followed(about, run)
        text_of, link = tell(about, run, followed)
        ten = [route for route in followed.taken if route.key != followed.position][:10]
        target = target_of(about, run, followed)
        before, left = link_losses(about.trace, target, [(one.layer, one.query, one.key) for one in ten], followed.state)
        best = ten[int(left.argmin())]
        assert (" → “" in text_of) == (link.query != followed.position), "both ends, unless it ends at the followed token"
        if "drawing " in text_of:
            named, right = named + 1, right + (best == link)
            assert link.share >= NAMED
            assert ("drawing most on" in text_of) == (link == followed.taken[0])
        else:
            assert best == link, "the strongest effect of the ten is told"
            kept = float(left.min() / before)
            says = (
                "one link matters most, of" if kept < HALF else "no single link matters, of" if kept >= KEPT else "strongest of"
            )
            assert f"{says} {len(ten)} " in text_of
    assert named >= 15
    assert right >= 0.8 * named


def test_links_cut_as_one_batch_lose_what_each_loses_alone(bundled):
    trace = subject().trace
    target = targets.word_target(trace)
    links = [(5, 6, 4), (0, 2, 4), (3, 6, 2), (3, 4, 2), (5, 3, 4)]
    before, left = link_losses(trace, target, links, 6)
    assert before == pytest.approx(float(targets.own_reading(trace, target).probability), abs=1e-5)
    for link, share in zip(links, left, strict=True):
        states = Run(trace, cuts=[(*link, None)]).states[-1]
        assert share == pytest.approx(float(targets.read(bundled, target, states[None]).probability), abs=1e-5)
    assert left[-1] == pytest.approx(before, abs=1e-5), "in the last layer only what the blank takes counts"
    _, lens = link_losses(trace, target, [(3, 6, 2), (5, 6, 4)], 4)
    states = Run(trace, cuts=[(3, 6, 2, None)]).states
    assert lens[0] == pytest.approx(float(targets.read_at(bundled, target, states[4, [6]]).probability), abs=1e-5)


def test_the_cuts_of_a_long_input_are_left_out_of_an_answer_at_once(bundled):
    about = subject(LONG, "").hurried
    view = Routes()
    assert "which no cut has tested" in view.finding(about).text
    assert about.later == {"link effects"}
    assert [*view.prepare_rest(subject(about.text_a, ""))] == [1.0]
    assert "which no cut has tested" not in view.finding(about).text


def test_a_word_that_needs_no_link_says_so(bundled):
    text = Routes().finding(subject("She is my sister.", "")).text
    assert "no single link matters" in text
    assert "“is” stays at 99.8% without" in text, "both round to the same number, with a decimal too"


def test_a_changed_run_says_what_the_change_did(bundled):
    text = Routes().finding(subject(cut=((5, 6, 4, None),))).text
    assert re.fullmatch(r"Without japan in layer 6: tokyo \d+% → 3%, \w+ leads with \d+%\.", text)
    assert Routes().finding(subject(off=((5, 5),))).text.startswith("Without head 6.6: tokyo ")
    assert Routes().finding(subject(swap=("Japan", "France"))).text.startswith("With France for Japan: tokyo ")


def test_every_level_of_the_zoom_has_the_numbers_of_inside_a_head_and_a_cut_weight_is_zero(bundled):
    about = subject()
    shares, own = mixing(ablation.Run(about.trace)).shares, about.trace.attention(5)
    zoom = picture(about, zoom=(6, 6, 4))["zoom"]
    layer, weight = zoom["layer"], zoom["weight"]
    assert zoom["at"] == [6, 6, 4]
    assert layer["kept"] == pytest.approx(float(shares[5, 6, 6]), abs=1e-6)
    for head, weights in zip(layer["heads"], own[:, 6], strict=True):
        np.testing.assert_allclose(head["weights"], weights, atol=1e-6)
    parts = head_shares(about.trace, 5, 6)[:-1]
    assert [head["share"] for head in layer["heads"]] == pytest.approx(parts.sum(1).tolist(), abs=1e-5)
    table = numbers_of(DotProducts().compute(about.select(layer=6, head=6, token=6))["table"])
    told, *_ = [dict(zip(table.columns, row, strict=True)) for row in table.rows if row[table.columns.index("token")] == "japan"]
    step = head_step(ablation.Run(about.trace), 5, 5, 6)
    assert weight["query"] == pytest.approx(step.query.tolist(), abs=1e-4)
    assert weight["key"] == pytest.approx(step.keys[4].tolist(), abs=1e-4)
    assert weight["value"] == pytest.approx(step.values[4].tolist(), abs=1e-4)
    assert weight["dot"] == pytest.approx(sum(q * k for q, k in zip(weight["query"], weight["key"], strict=True)), abs=1e-2)
    assert (weight["dot"], weight["scaled"], weight["softmax"]) == pytest.approx((step.dots[4], step.scaled[4], step.weights[4]))
    assert (weight["dot"], weight["scaled"], weight["softmax"]) == pytest.approx(
        (told["q_dot_k"], told["scaled"], told["softmax"])
    )
    assert weight["weight"] == weight["softmax"] == pytest.approx(float(own[5, 6, 4]), abs=1e-6)
    weight = picture(subject(cut=((5, 6, 4, 5),)), zoom=(6, 6, 4))["zoom"]["weight"]
    assert weight["weight"] == 0
    assert weight["softmax"] > 0.9


def test_a_step_of_the_zoom_sends_that_level_alone(bundled):
    about, view = subject(), Routes()
    change = view.on_picture(about, {"zoom": [6, 6, 4]})
    assert change.settings == {"zoom": (6, 6, 4)}
    assert change.content["step"]["zoom"] == picture(about, zoom=(6, 6, 4))["zoom"]
    assert view.on_picture(about, {"zoom": []}).content == {"step": {"zoom": None}}
    neurons = view.on_picture(about, {"neurons": 6}).content["step"]["neurons"]
    assert neurons["guess"] == "tokyo"
    assert len(neurons["list"]) == 5
    assert picture(about, zoom=(6,))["zoom"]["layer"]["neurons"] == neurons, "known from now on"
    assert picture(about, zoom=(60, 6, 4))["zoom"] is None
    assert picture(about, zoom=(6, 6, 400))["zoom"]["at"] == [6, 6]


def test_the_answer_to_a_change_comes_before_its_words_and_routes_with_the_boxes_that_it_reaches(bundled):
    about, view = subject(), Routes()
    change = view.on_picture(about, {"cut": [4, 6, 2, 0]})
    after = about.select(**change.selection)
    step, whole = change.content["step"], picture(after)
    assert (step["answers"], step["changes"]) == (whole["answers"], whole["changes"])
    assert view.on_picture(after, {"rest": True}).content["picture"] == whole
    states = Run(about.trace, cuts=[(3, 6, 2, None)]).states
    own = bundled.masked_lm(states[-1]).softmax(-1)
    assert [words[0][1] for words in whole["words"][-1]] == pytest.approx(own.max(-1).values.tolist(), abs=1e-5)
    turned = 1 - torch.cosine_similarity(states, about.trace.states, dim=-1)
    assert step["reached"] == (turned >= 0.001).tolist()
    assert np.argwhere(step["reached"]).tolist() == [[4, 6], [5, 6], [6, 6]], "the blank from the layer of the cut on"
    undone = view.on_picture(after, step["changes"][0]["undo"])
    assert undone.selection == {"cut": ()}
    assert undone.content["step"]["reached"] == step["reached"]


@pytest.mark.parametrize(
    "chosen", [{"off": ((5, 5),)}, {"swap": ("Japan", "France")}, {"swap": ("Japan", "France"), "patch": (3, 4)}]
)
def test_every_change_is_listed_with_the_click_that_undoes_it(bundled, chosen):
    about = subject(**chosen)
    listed = picture(about)["changes"]
    assert len(listed) == len(chosen)
    for change in listed:
        about = about.select(**Routes().on_picture(about, change["undo"]).selection)
    assert not about.selection.is_changed
    assert Routes().on_picture(subject(**chosen), {"back": "all"}).selection == CHANGES


def test_a_cut_is_shown_beside_what_was_before_and_is_put_back_by_the_same_click(bundled):
    about = subject()
    change = Routes().on_picture(about, {"cut": [6, 6, 4, 0]})
    assert change.selection == {"cut": ((5, 6, 4, None),)}
    after = about.select(**change.selection)
    value = picture(after)
    blank = value["answers"][-1]
    was = {word: before for word, _, before in blank["bars"]}
    target = targets.word_target(about.trace, "tokyo")
    own = float(targets.own_reading(about.trace, target).probability)
    assert was["tokyo"] == pytest.approx(own, abs=1e-5)
    assert mixing_in(value)[5, 6, 4] == 0
    assert value["before"][6][6] == "tokyo"
    assert Routes().on_picture(after, {"cut": [6, 6, 4, 0]}).selection == {"cut": ()}


def test_a_long_input_has_a_row_for_all_that_has_none_and_loses_nothing(bundled):
    about = subject("The capital of Japan is [MASK]. " + LONG, "")
    value = picture(about)
    assert len(value["tokens"]) == ROWS + 1
    assert value["elsewhere"]
    assert value["mixing"] is None
    np.testing.assert_allclose(np.sum(value["shares"], axis=1), 1, atol=0.01)
    assert value["tokens"][value["target"]["row"]] == "[MASK]"
    assert "japan" in value["tokens"]


NOT_THERE = [{"zoom": [99]}, {"neurons": 99}, {"cut": [99, 0, 0, 0]}, {"state": 3, "token": 500}, {"off": [1, 99]}, {"open": 1}]
NO_PLACES = [None, {}, [], "x", {"zoom": "x"}, {"zoom": [1] * 4}, {"back": "x"}, {"cut": [1]}, {"cut": 3}, {"off": 4}]


@pytest.mark.parametrize("index", [*NOT_THERE, *NO_PLACES, {"state": 3}], ids=repr)
def test_what_cannot_be_clicked_is_refused_with_a_sentence(bundled, index):
    with pytest.raises(InputError):
        Routes().on_picture(subject(), index)


def test_the_test_of_trust_names_the_word_that_costs_most(bundled):
    about = subject()
    (said,) = Trust().on_test(about, None).content.values()
    assert "rank correlation" in said
    assert "“japan” costs most" in said
    (said,) = Trust().on_test(subject("The dog did not cross the street because it was too tired.", ""), None).content.values()
    assert "none costs “the” at “the” (token 6) half a point" in said
    with pytest.raises(InputError):
        Trust().on_test(subject("Yes.", ""), None)


def test_what_the_page_says_of_many_sentences_is_what_the_guide_says(guide):
    names = {"routes": "routes (ALTI, multiplied backwards)", "attention": "attention of the last layer, mean over heads"}
    for method, name in names.items():
        assert f"| {name} | {MEASURED[method]} |" in guide["benchmarks"]


def test_losses_are_those_of_the_input_with_a_mask_and_shares_those_of_the_routes(model):
    trace = model.trace("The man went to the [MASK] slowly.", "He bought some milk!")
    blank = trace.mask_positions[0]
    for target in (word_target(trace), is_next_target(trace)):
        found = trust(trace, target)
        seen = [place for place in trace.encoding.text_positions if place != blank]
        assert list(found.places) == seen
        shares = routes.place_shares(routes.mixing(ablation.Run(trace)).shares, target.position)[0]
        np.testing.assert_array_equal(found.shares, shares[seen])
        whole = own_reading(trace, target)
        for at in (0, len(seen) - 1):
            without = own_reading(ablation.with_mask(trace, seen[at]), target)
            assert found.losses[at] == pytest.approx(float(whole.probability - without.probability), abs=1e-5)
            assert found.logit_losses[at] == pytest.approx(float(whole.logit - without.logit), abs=1e-3)
