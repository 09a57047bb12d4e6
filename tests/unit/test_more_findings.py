"""Findings of the views that compare, play or look at the model itself: each held to numbers that are computed here anew."""

import numpy as np
import pytest
import torch

import explorer
from explorer.fill_mask.game import Game
from explorer.model_card.weights import Weights
from explorer.next_sentence.pairs import PAIRS, QUOTED, ManyPairs
from explorer.page.examples import FIRST_A, FIRST_B
from explorer.projection.map import Map
from explorer.projection.points import WORDS
from explorer.side_by_side.attention import SideAttention
from explorer.side_by_side.pieces import SidePieces
from explorer.side_by_side.states import SideStates
from explorer.task_head.heads import OwnAnswer, OwnLabels, OwnTags
from explorer.text.lines import read_lines
from explorer.ui.pictures.base import shorten
from explorer.ui.pictures.numbers import numbers_of
from explorer.ui.subject import Subject
from tests.families import PAIR, TUNED, own, write_family, write_tuned
from tests.unit.test_findings import near, numbers, words

HERE, THERE = "The king said that he was tired.", "The queen said that he was tired."


@pytest.fixture(scope="module")
def opening(bundled):
    return Subject.of(bundled.trace(FIRST_A, FIRST_B))


def cosines_of(vectors):
    """[n, n] cosines, a row with itself left out."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -2)
    return cosines


@pytest.mark.parametrize("token", [None, 12])
def test_the_nearest_word_is_nearest_in_all_dimensions(bundled, eager, token):
    subject = Subject.of(bundled.trace(FIRST_A, FIRST_B)).select(token=token)
    state = eager(bundled, FIRST_A, FIRST_B)[1].hidden_states[4][0].numpy()
    row, tokens = subject.token, subject.trace.tokens
    best = int(cosines_of(state)[row].argmax())
    view = Map(source=WORDS, layer=4)
    found = view.finding(subject)
    assert words(found.text) == [tokens[best], tokens[row]]
    assert numbers(found.text) == [4, pytest.approx(cosines_of(state)[row, best], abs=0.005)]
    assert dict(found.why.selection) == {"layer": 4, "token": row}
    shown = view.compute(subject)["map"]
    assert shown["points"][shown["picked"]]["index"] == row
    assert shown["points"][shown["links"][0]["end"]]["index"] == best


def test_sentences_lie_next_to_their_own_kind(bundled, opening):
    texts, labels = read_lines(Map().sentences)
    means = np.stack([bundled.trace(text).hidden_states[-1].mean(axis=0) for text in texts])
    others = cosines_of(means).argmax(axis=1)
    alike = sum(labels[row] == labels[other] for row, other in enumerate(others))
    chance = np.mean([(labels.count(label) - 1) / (len(labels) - 1) for label in labels]) * len(labels)
    text = Map().finding(opening).text
    assert numbers(text) == [alike, len(texts), 6, round(chance), 0.001]  # the smallest p of 999 shuffles
    assert ("ring" in text) == (0 < len(texts) - alike <= 8)
    assert sum(point["ring"] for point in Map().compute(opening)["map"]["points"]) == len(texts) - alike


@pytest.mark.parametrize("seed", [0, 5])
def test_the_dearest_piece_of_a_round_is_that_of_the_table(opening, seed):
    view = Game(seed=seed)
    shown, text = view.compute(opening), view.finding(opening).text
    rows = numbers_of(shown["table"]).rows
    position, truth, _, _, best, _, _, cost = max(rows, key=lambda row: row[-1])
    assert words(text)[0] == truth
    assert numbers(text)[-1] == pytest.approx(cost, abs=0.006)
    assert f"right for {sum(row[1] == row[4] for row in rows)} of {len(rows)} chosen pieces" in text
    assert ("; the first guess is " in text) == (best != truth)
    assert shown["row"]["selected"] == position


def logit_differences(model, pairs):
    """Of IsNext over NotNext, by the model's own class."""
    inputs = [model.tokenizer(a, b, return_tensors="pt") for a, b in pairs]
    with torch.inference_mode():
        logits = [model.module(**one).seq_relationship_logits[0] for one in inputs]
    return np.array([float(one[0] - one[1]) for one in logits])


def sigmoid(logit):
    return 1 / (1 + np.exp(-logit))


def test_the_most_doubtful_pair_is_named(bundled, opening):
    differences = logit_differences(bundled, PAIRS)
    doubtful = int(np.abs(differences).argmin())
    text = ManyPairs().finding(opening).text
    follow, of, sure = numbers(text)
    assert (follow, of) == ((differences > 0).sum(), len(PAIRS))
    assert near(sigmoid(abs(differences[doubtful])), sure)
    assert words(text) == [shorten(PAIRS[doubtful][place], QUOTED) for place in (1, 0)]
    assert ("does not follow" in text) == (differences[doubtful] < 0)
    assert "does not follow “A" in ManyPairs(pairs=[["A", "B", 0.1, -2.2]]).finding(opening).text
    assert "in both pairs" in ManyPairs(pairs=[["A", "B", 0.9, 2.2], ["C", "D", 0.9, 2.3]]).finding(opening).text


def test_the_best_candidate_is_named_with_what_comes_next(bundled, opening):
    candidates = [*dict.fromkeys(b for _, b in PAIRS), FIRST_B]
    differences = logit_differences(bundled, [(FIRST_A, one) for one in candidates])
    order = np.argsort(-differences)
    text = ManyPairs(candidates="\n".join(candidates)).finding(opening).text
    assert words(text) == [candidates[place] for place in order[:2]]
    assert all(near(sigmoid(differences[place]), told) for place, told in zip(order, numbers(text), strict=False))
    none = ManyPairs(pairs=[["A", "B", 0.1, -2.2], ["A", "C", 0.198, -1.4]]).finding(opening).text
    assert none == "None of the 2 candidates follows A; “C” comes closest (20%)."
    equal = ManyPairs(pairs=[["A", "B", 0.9, 2.2], ["A", "C", 0.9, 2.2]]).finding(opening).text
    assert equal == "“B” and “C” follow A equally well, with 90%."


def test_the_matrix_that_differs_most_is_where_the_view_opens(bundled, opening):
    layers = [dict(layer.named_parameters()) for layer in bundled.module.bert.encoder.layer]
    sizes = {
        name: [float(layer[name].square().mean().sqrt()) for layer in layers] for name, one in layers[0].items() if one.ndim == 2
    }
    name = max(sizes, key=lambda name: max(sizes[name]) / min(sizes[name]))
    text = Weights().finding(opening).text
    assert f"{name} differs most" in text
    most, least = (of(range(6), key=sizes[name].__getitem__) for of in (max, min))
    expected = [sizes[name][most] / sizes[name][least], most + 1, least + 1]
    assert numbers(text) == pytest.approx(expected, abs=0.05)
    shown = Weights().compute(opening)
    assert shown["about"].startswith(f"{name}, layer {most + 1}:")
    assert shown["sizes"].layout.shapes[-1].x0 == most + 0.5
    assert Weights(cell=(0, 1)).compute(opening)["about"].split(":")[0].endswith("layer 2")


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """A BERT tuned for each task, and its folder."""
    folders = {ending: write_tuned(tmp_path_factory.mktemp("tuned") / ending, "bert", ending) for ending in TUNED}
    return {ending: (explorer.load(folder), folder) for ending, folder in folders.items()}


def test_the_word_that_a_label_rests_on(tuned):
    model, folder = tuned[TUNED[0]]
    text = OwnLabels().finding(Subject.of(model.trace(*PAIR))).text

    def shares(pair):
        return own(folder, f"Bert{TUNED[0]}", model, pair).logits[0].softmax(-1).numpy()

    best = int(shares(PAIR).argmax())
    label, hidden = words(text)
    assert label == ("sad", "calm", "happy")[best]
    encoding, after_each = model.trace(*PAIR).encoding, []
    for group in encoding.text_words:
        if encoding.word(group) == hidden:
            side, masked = encoding.sequences[group[0]], [*PAIR]
            start, end = encoding.offsets[group[0]][0], encoding.offsets[group[-1]][1]
            masked[side] = masked[side][:start] + "[MASK]" * len(group) + masked[side][end:]
            after_each.append(shares(tuple(masked))[best])
    before, after = numbers(text)
    assert near(shares(PAIR)[best], before)
    assert near(min(after_each), after)


def test_the_least_sure_tag_and_the_next_answer(tuned):
    model, folder = tuned[TUNED[1]]
    subject = Subject.of(model.trace(*PAIR))
    shares = own(folder, f"Bert{TUNED[1]}", model, PAIR).logits[0].softmax(-1).numpy()
    token, first, second = numbers(OwnTags().finding(subject).text)
    starts = [group[0] for group in subject.trace.encoding.text_words]
    assert shares[int(token)].max() == shares[starts].max(axis=1).min()
    assert near(np.sort(shares[int(token)])[-1], first)
    assert near(np.sort(shares[int(token)])[-2], second)
    assert OwnTags().compute(subject)["row"]["outlined"] == [0, token]
    model, _ = tuned[TUNED[2]]
    subject = Subject.of(model.trace(*PAIR))
    rows = [row["label"] for row in OwnAnswer().compute(subject)["answers"]["groups"][0]["rows"]]
    best, *then = words(OwnAnswer().finding(subject).text)
    assert best == rows[0]
    assert not then or (then[0] in rows[1:] and not set(best.split()) & set(then[0].split()))
    assert OwnAnswer().finding(Subject.of(model.trace("the man"))) is None


def test_whose_attention_moves_most(bundled, eager):
    subject = Subject.of(bundled.trace(HERE)).select(layer=3, head=2)
    here, there = (eager(bundled, text)[1].attentions[2][0, 1].numpy() for text in (HERE, THERE))
    moved = np.abs(there - here).sum(axis=1) / 2
    query = int(moved.argmax())
    key = int(np.abs(there - here)[query].argmax())
    view = SideAttention(other_a=THERE)
    text = view.finding(subject).text
    names = ["king / queen" if token == "king" else token for token in subject.trace.tokens]
    assert words(text) == [names[query], names[key]]
    share, shift = numbers(text)
    assert near(moved[query], share)
    assert shift == pytest.approx(abs(there - here)[query, key], abs=0.005)
    assert ("most of all to " in text) == (there[query, key] > here[query, key])
    shape = view.compute(subject)["difference"].layout.shapes[-1]
    assert (shape.y0, shape.x0) == (query - 0.5, key - 0.5)
    assert SideAttention(other_a=HERE).finding(subject) is None
    assert SideAttention(other_a="Short.").finding(subject) is None


def test_which_word_changes_most_and_is_cut_most_differently(bundled, eager, tmp_path):
    subject = Subject.of(bundled.trace(HERE))
    here, there = (np.stack([one[0] for one in eager(bundled, text)[1].hidden_states]) for text in (HERE, THERE))
    apart = 1 - (here * there).sum(-1) / np.linalg.norm(here, axis=-1) / np.linalg.norm(there, axis=-1)
    text = SideStates(other_a=THERE).finding(subject).text
    token, change, state = numbers(text)
    same = [place for place, one in enumerate(subject.trace.tokens) if one != "king" and not one.startswith("[")]
    assert apart[:, same].max() == pytest.approx(change, abs=0.005)
    assert apart[int(state), int(token)] == apart[:, same].max()
    assert SideStates(other_a="Short.").finding(subject) is None
    other = explorer.load(write_family(tmp_path / "roberta", "roberta"))
    (word,), (mine, yours) = (
        of(SidePieces(other_model=str(tmp_path / "roberta")).finding(subject).text) for of in (words, numbers)
    )
    assert mine == sum(subject.trace.encoding.word(group) == word and len(group) for group in subject.trace.encoding.text_words)
    counts = [
        len(group) for group in other.encode(HERE).text_words if HERE[other.encode(HERE).offsets[group[0]][0] :].startswith(word)
    ]
    assert yours in counts
    exchanged = SidePieces(other_a=THERE).finding(subject).text
    mine, yours = (bundled.encode(one).tokens for one in (HERE, THERE))
    (place,) = [at for at, (one, other) in enumerate(zip(mine, yours, strict=True)) if one != other]
    assert words(exchanged) == [mine[place], yours[place]] == ["king", "queen"]
    assert numbers(exchanged) == [len(mine) - 1, len(mine), place]
    assert SidePieces(other_a="Short.").finding(subject) is None
    assert SidePieces(other_a=HERE).finding(subject) is None
