"""A direction added to one vector, and paths between two places: beside transformers with hooks, and reopened by links."""

import re

import pytest
import torch

from explorer.core.errors import InputError
from explorer.export import links
from explorer.export.named import chosen_in, read_settings
from explorer.overview.routes import Routes
from explorer.overview.run import changes_of, selected_run
from explorer.techniques import ablation, routes
from explorer.techniques.directions import SENTENCES, find_direction
from explorer.techniques.edits import PARTS, Along, Move
from explorer.text.corpora import built_in
from explorer.text.swaps import put
from explorer.ui.edits import WAYS
from explorer.ui.subject import Subject
from tests.hooks import cut_weights, eager_bert, every_dense, hooked, seen_in, with_head

TEXT = "when he was tired, [MASK] went to bed."
HE, BLANK = 2, 6
STATE = 3


@pytest.fixture
def about(bundled):
    return Subject(bundled.name, TEXT, "")


@pytest.fixture
def eager(bundled):
    return eager_bert(bundled).requires_grad_(False)


def last_of(eager, model, text=TEXT):
    """The last hidden state of transformers' own run."""
    return eager.bert(**model.tokenizer(text, return_tensors="pt")).last_hidden_state[0]


def press(subject, **index):
    """The subject after a click in the picture, and what is shown first."""
    change = Routes().on_picture(subject, index)
    return subject.select(**change.selection), change.content.get("step")


def test_a_direction_is_the_difference_of_transformers_own_means(bundled, eager):
    found = find_direction(bundled, "he", "she")
    texts = sorted((text for text in built_in().texts if re.search(r"\b(she|he)\b", text.lower())), key=len)
    differences = []
    for text in texts:
        inputs = [bundled.tokenizer(put(text, *words), return_tensors="pt") for words in (("she", "he"), ("he", "she"))]
        he, she = (eager.bert(**one, output_hidden_states=True).hidden_states for one in inputs)
        ids = [one["input_ids"][0] for one in inputs]
        places = (ids[0] != ids[1]).nonzero()[:, 0].tolist()
        if len(places) == 1:
            differences.append(torch.stack([b[0, places[0]] - a[0, places[0]] for a, b in zip(he, she, strict=True)]))
    expected = torch.stack(differences[:SENTENCES]).mean(0)
    torch.testing.assert_close(found.vectors, expected, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(found.random.norm(dim=-1), found.vectors.norm(dim=-1))
    for word, other in WAYS:
        back = find_direction(bundled, other, word)
        torch.testing.assert_close(find_direction(bundled, word, other).vectors, -back.vectors, atol=1e-5, rtol=1e-5)
    with pytest.raises(InputError, match="several pieces"):
        find_direction(bundled, "photosynthesis", "chlorophyll")


def test_a_moved_vector_is_that_of_a_hook_and_strength_0_is_the_run_itself(about, bundled, eager):
    direction = find_direction(bundled, "he", "she").vectors[STATE]
    moved, step = press(about, move=[STATE, HE, "he", "she", 1.5])
    with hooked([eager.bert.encoder.layer[STATE - 1]], lambda _, hidden: add(hidden, HE, 1.5 * direction)):
        theirs = last_of(eager, bundled)
    run = selected_run(moved)
    torch.testing.assert_close(run.states[-1], theirs, atol=1e-4, rtol=1e-4)
    shares = eager.cls.predictions(theirs)[BLANK].softmax(-1)
    bars = {word: share for word, share, _ in step["answers"][0]["bars"]}
    she = bundled.tokenizer.convert_tokens_to_ids("she")
    assert bars["she"] == pytest.approx(float(shares[she]), abs=1e-4)
    assert bars["she"] > 0.4 > 4 * bars.get("he", 0), "so the words follow the slider"
    assert step["words"][STATE][HE][0][0] == "she", "the words follow the slider"
    assert run.mixed.max_error < 1e-4
    back, _ = press(moved, move=[STATE, HE, "he", "she", 0])
    assert not back.selection.is_changed
    assert torch.equal(selected_run(back).states, about.trace.states), "the identity, exactly"
    for name in ("move", "all"):
        assert not press(moved, back=name)[0].selection.is_changed


def test_the_finding_compares_a_random_direction_and_says_what_else_changed(about, bundled):
    moved, _ = press(about, move=[STATE, HE, "he", "she", 1])
    text = Routes().finding(moved).text
    run, before = selected_run(moved), about.trace
    random = Move(STATE, HE, "", find_direction(bundled, "he", "she").random[STATE])
    shares = [
        float(bundled.masked_lm(states[-1, BLANK]).softmax(-1)[bundled.tokenizer.convert_tokens_to_ids("he")])
        for states in (before.states, run.states, ablation.Run(before, edits=[random]).states)
    ]
    was, now, beside = (f"{share:.0%}" for share in shares)
    assert text.startswith(f"With 1.0 × (she − he) added to “he” after layer 3: he {was} → {now}, she leads with ")
    assert text.endswith(f"A random direction of equal length: he {was} → {beside}.")
    read = [bundled.masked_lm(states[-1]).argmax(-1) for states in (before.states, run.states)]
    other = [place for place in (read[0] != read[1]).nonzero()[:, 0].tolist() if place != BLANK]
    names = [" → ".join(bundled.pieces([int(ids[place]) for ids in read])) for place in other]
    assert names
    assert f"Other tokens are read differently too: {', '.join(names)}." in text


def add(hidden, place, vector):
    hidden = hidden.clone()
    hidden[:, place] += vector
    return hidden


SENDERS = [(1, 7), (0, 3), (2, 6, 2)]
RECEIVERS = [*((4, 5, part) for part in PARTS), (4, 6, ""), (6, 6, "")]


@pytest.mark.parametrize("sender", SENDERS)
@pytest.mark.parametrize("receiver", RECEIVERS)
@pytest.mark.parametrize("swapped", [False, True])
def test_a_path_is_that_of_two_passes_with_hooks(bundled, eager, sender, receiver, swapped):
    text = put(TEXT, "he", "she") if swapped else TEXT
    trace, source = bundled.trace(text), bundled.trace(TEXT) if swapped else None
    (layer, *at), (to, place, part), heads = sender, receiver, bundled.capabilities.heads
    run = ablation.Run(trace, edits=[Along(to, place, part, sender, ablation.Run(trace), source=source)])
    layers, dense = eager.bert.encoder.layer, every_dense(eager)
    theirs = seen_in(dense, lambda: last_of(eager, bundled, text), before=True)
    mine = seen_in(dense, lambda: last_of(eager, bundled), before=True)

    def sent():
        """What the sender's layer gives in the first pass."""
        if len(at) == 1:
            return with_head(theirs[layer], at[0], heads, mine[layer] if swapped else 0)
        with cut_weights(eager, [(layer, *at, None)]):
            without = seen_in(dense, lambda: last_of(eager, bundled, text), before=True)[layer]
        if not swapped:
            return without
        with cut_weights(eager, [(layer, *at, None)]):
            lost = seen_in(dense, lambda: last_of(eager, bundled), before=True)[layer]
        return without + mine[layer] - lost

    first = sent()
    parts = [getattr(one.attention.self, part or "query") for one in layers]
    with hooked(dense, lambda number, _: first if number == layer else theirs[number], before=True):
        received = seen_in(parts if part else [*layers], lambda: last_of(eager, bundled, text))

    def read(number, out):
        if part:
            return with_head(out, place, heads, received[to]) if number == to else None
        if number != to - 1:
            return None
        out = out.clone()
        out[:, place] = received[number][:, place]
        return out

    with hooked(parts if part else [*layers], read):
        expected = last_of(eager, bundled, text)
    error, effect = ((run.states[-1] - one).abs().max() for one in (expected, trace.states[-1]))
    assert error < 2e-5
    if len(at) == 1 or place == at[0] or part in ("key", "value"):
        assert error < effect / 10
    assert routes.mixing(run).max_error < 1e-4


def test_a_path_is_chosen_by_two_places_named_and_put_back(about):
    chosen, step = press(about, path=[[2, 8], [5, 6, "query"]])
    assert step["changes"] == changes_of(chosen) == [{"label": "head 2.8 through 5.6's query", "undo": {"back": "path"}}]
    assert Routes().finding(chosen).text.startswith("Without head 2.8, only through head 5.6's query: he ")
    chosen, _ = press(chosen, path=[[3, 6, 2], [5, 6]])
    said = "Without he → [MASK] in layer 3, only through “[MASK]” after layer 5: he "
    assert Routes().finding(chosen).text.startswith(said)
    assert not press(chosen, back="path")[0].selection.is_changed
    swapped = chosen.select(swap=("he", "she"))
    assert "with he → [MASK] in layer 3 as before, only through" in Routes().finding(swapped).text


@pytest.mark.parametrize(
    ("index", "told"),
    [
        ({"path": [[3, 2], [3, 2, "query"]]}, "from 4 to 6"),
        ({"path": [[3, 2], [2, 1]]}, "from 3 to 6"),
        ({"path": [[3, 2], [5, 2, "output"]]}, "query, key, value"),
        ({"path": [[6, 2], [6, 2, "query"]]}, "earlier layer"),
        ({"path": [[3, 6, 2], [5, 4]]}, "Choose a box of “[MASK]”"),
        ({"path": "3.2"}, "Send who sends"),
        ({"path": [[3], [5, 4]]}, "Send who sends"),
        ({"move": [3, 2, "he", "cat", 1]}, "Send a hidden state"),
        ({"move": [7, 2, "he", "she", 1]}, "from 0 to 6"),
        ({"move": [3, 2, "he", "she", 9]}, "from 0 to 3"),
        ({"move": [3, 2, "he", "she", "far"]}, "from 0 to 3"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(about, index, told):
    with pytest.raises(InputError, match=re.escape(told)):
        press(about, **index)


@pytest.mark.parametrize(
    "index", [{"move": [3, 2, "he", "she", 1.5]}, {"path": [[2, 8], [5, 6, "key"]]}, {"path": [[3, 6, 2], [5, 6]]}]
)
def test_links_and_programs_reopen_an_edit(about, index):
    chosen, _ = press(about, **index)
    ((name, value),) = index.items()
    again = links.follow(links.of(Routes(), chosen), about)
    assert again.subject.selection == chosen.selection
    assert chosen_in(Routes(), chosen)[name] == value
    _, named = read_settings([Routes], {name: value}, about)
    assert named.selection == chosen.selection
    other = Subject(about.model_name, "A cat sat there.", "", chosen.selection)
    assert other.selection.move is None
    assert len(index.get("path", [[1, 1, 1]])[0]) == 2 or other.selection.path is None
