"""The questions of an experiment besides heads off, and its other targets: each number against hooks on transformers."""

import json

import numpy as np
import pytest
import scipy
import torch
import transformers

import explorer
from explorer.core.errors import CapabilityError, InputError
from explorer.experiments.compute.experiment import NO_DIFFERENCE, QUESTIONS, experiment
from explorer.experiments.compute.items import Item, Mark, items_from_lines
from explorer.experiments.compute.minimal_pairs import suite_items
from explorer.experiments.compute.patching import PAIRS
from explorer.experiments.compute.summary import summarise
from explorer.experiments.compute.targets import WORD, Target
from explorer.experiments.endpoints import experiment as endpoint
from explorer.techniques.lens import tuned_lens
from tests.hooks import eager_bert, every_dense, hooked, seen_in, with_head, zeroed

MARKED = (
    "the *man/dog* went to the [MASK] .",
    "she bought the [MASK] *milk/store* .",
    "it was the *sad/happy* dog , and [MASK] it went !",
    "he went to the *dog/cat* [MASK] *slow* .",
)
BOTH = [Item(text, "", *words) for text in MARKED for words in (("man", "cat"), ("cat", "man"))]
PAIRED = [
    [f"he *{one}/{other}* .", f"it was {end} ."]
    for one, other in (("went", "bought"), ("bought", "went"))
    for end in ("slow", "sad", "happy")
]
TEXTS = [[text, "it was slow ."] for text in ("he went", "the dog was happy", "she bought milk", "the man was sad")]


def lines_of(items):
    """Items as a person types them."""
    return "\n".join(" | ".join([*filter(None, item.row[:2]), *item.row[2:]]) for item in items)


def test_marks_are_read_and_written():
    item = Item("The *key/keys* to 2 * 3 * 4 is *old*.", "*It* [MASK].", "is", "are")
    assert (item.text_a, item.text_b) == ("The key to 2 * 3 * 4 is old.", "It [MASK].")
    assert item.marks == (Mark(0, 4, 7, "keys"), Mark(0, 24, 27), Mark(1, 0, 2))
    assert item.changed == ("The keys to 2 * 3 * 4 is old.", "It [MASK].")
    assert Item(*item.row) == item
    assert items_from_lines(lines_of([item, item])) == (item, item)
    assert Item("a *b* [MASK]", "", "", "").changed is None
    for plain in ("* b *", "**", "*/b*", "*b/*", "a*b"):
        assert Item(plain, "", "", "").marks == ()


def by_transformers(model, found):
    """For each item of a result the module, both inputs, and a function for the logit difference of a run."""
    module = eager_bert(model)
    for item, pieces in zip(found.items, found.pieces, strict=True):
        own, changed = (model.tokenizer(text, return_tensors="pt") for text in (item.text_a, item.changed[0]))
        place = int((own["input_ids"][0] == model.mask_id).nonzero()[0])
        word, foil = model.tokenizer.convert_tokens_to_ids(list(pieces))

        @torch.no_grad()
        def difference(inputs, place=place, word=word, foil=foil):
            logits = module(**inputs).prediction_logits[0, place]
            return float(logits[word] - logits[foil])

        yield module, own, changed, place, difference


def roles(own, changed, place):
    """The tokens of each role."""
    differs = (own["input_ids"] != changed["input_ids"])[0]
    read = torch.arange(len(differs)) == place
    return [differs, ~differs & ~read, read]


def copied(module, watched, own, changed, difference, where):
    """The difference of the changed text when the output of `watched` has the item's own vectors `where` they are asked for."""
    (seen,) = seen_in([watched], lambda: difference(own))
    with hooked([watched], lambda _, whole: torch.where(where[None, :, None], seen, whole)):
        return difference(changed)


@pytest.mark.parametrize("how", ["residual", "mlp"])
def test_patching_of_states_and_of_the_feed_forward_block_is_that_of_hooks(tiny, how):
    found = experiment(tiny, BOTH, "patching", how)
    assert len(found.items) == len(found.left_out) == len(MARKED), "in each text the word wins one way round"
    assert set(found.left_out.values()) == {NO_DIFFERENCE}
    for row, (module, own, changed, place, difference) in enumerate(by_transformers(tiny, found)):
        layers = module.bert.encoder.layer
        watched = [module.bert.embeddings, *layers] if how == "residual" else [layer.output.dense for layer in layers]
        asked = own, changed, difference
        wanted = [[copied(module, one, *asked, where) for where in roles(own, changed, place)] for one in watched]
        np.testing.assert_allclose(found.before[row] + found.values[row], wanted, atol=1e-4)
        assert found.before[row] == pytest.approx(difference(changed), abs=1e-4)
        assert found.before[row] + found.sizes[row] == pytest.approx(difference(own), abs=1e-4)
    np.testing.assert_allclose(found.summary.effects, found.values.sum(0) / found.sizes.sum(), atol=1e-6)
    np.testing.assert_allclose(found.summary.nulls, found.nulls.sum(0) / found.sizes.sum(), atol=1e-6)
    if how == "residual":
        np.testing.assert_allclose(found.summary.effects[0, 0], 1, atol=1e-5)
        np.testing.assert_allclose(found.summary.effects[-1], [0, 0, 1], atol=1e-5)


def test_patching_is_compared_with_what_comes_back_for_other_pairs_of_words(tiny):
    found, pool = experiment(tiny, BOTH, "patching", seed=3), Target(tiny, WORD).whole_words
    assert len(pool) > 10
    assert all(tiny.vocabulary[id].isalpha() for id in pool)
    for row, (module, own, changed, place, _) in enumerate(by_transformers(tiny, found)):
        drawn = np.random.default_rng((3, BOTH.index(found.items[row]) + 1)).permutation(pool)[: 2 * min(PAIRS, len(pool) // 2)]

        @torch.no_grad()
        def differences(inputs, module=module, place=place, drawn=drawn):
            first, second = module(**inputs).prediction_logits[0, place].numpy()[drawn.reshape(-1, 2)].T
            return first - second

        before, whole = differences(changed), differences(own)
        for state, watched in enumerate([module.bert.embeddings, *module.bert.encoder.layer]):
            for role, where in enumerate(roles(own, changed, place)):
                back = copied(module, watched, own, changed, differences, where) - before
                share = (back * np.sign(whole - before)).sum() / np.abs(whole - before).sum()
                assert found.nulls[row, state, role] == pytest.approx(share * found.sizes[row], abs=3e-4)
    assert found.summary.p[0, 0] == found.summary.p[-1, -1] == 1, "what brings all back in any model is no finding"
    assert experiment(tiny, [[*texts, "", ""] for texts in PAIRED], "patching", target="next_sentence").nulls is None


def test_patching_of_heads_is_that_of_hooks(tiny):
    found = experiment(tiny, BOTH, "patching", "heads")
    heads = tiny.capabilities.heads
    for row, (module, own, changed, _, difference) in enumerate(by_transformers(tiny, found)):
        dense = every_dense(module)
        seen = seen_in(dense, lambda own=own, run=difference: run(own), before=True)
        for (layer, head), value in np.ndenumerate(found.values[row]):
            with hooked([dense[layer]], lambda _, one, head=head, to=seen[layer]: with_head(one, head, heads, to), before=True):
                assert found.before[row] + value == pytest.approx(difference(changed), abs=1e-4)


def gradients(module, inputs, watched, before, place, pair, embedded=None):
    """What modules read (`before`) or output in a run of transformers' own, and the gradient of the logit difference by each."""
    seen = {}

    def keep(name, activation):
        activation.requires_grad_().retain_grad()
        seen[name] = activation

    with hooked([module.bert.embeddings], lambda _, own: embedded), hooked(watched, keep, before):
        logits = module(**inputs).prediction_logits[0, place]
    (logits[pair[0]] - logits[pair[1]]).backward()
    return [(seen[name].detach()[0], seen[name].grad[0]) for name in range(len(watched))]


@pytest.mark.parametrize("way", ["heads", "heads_integrated", "residual", "mlp"])
def test_an_estimate_of_patching_is_activation_times_gradient_by_hooks(tiny, way):
    found = experiment(tiny, BOTH, "attribution_patching", way)
    for row, (module, own, changed, place, _) in enumerate(by_transformers(tiny, found)):
        pair, layers = tiny.tokenizer.convert_tokens_to_ids(list(found.pieces[row])), module.bert.encoder.layer
        watched = {"residual": [module.bert.embeddings, *layers], "mlp": [layer.output.dense for layer in layers]}
        asked = watched.get(way, every_dense(module)), way not in watched, place, pair
        mine, other = gradients(module, own, *asked), gradients(module, changed, *asked)
        slopes = [slope for _, slope in other]
        if way == "heads_integrated":
            with torch.no_grad():
                ends = [module.bert.embeddings(one["input_ids"], one["token_type_ids"]) for one in (changed, own)]
            steps = [ends[0] + step / 5 * (ends[1] - ends[0]) for step in range(1, 6)]
            along = [[slope for _, slope in gradients(module, changed, *asked, embedded)] for embedded in steps]
            slopes = [torch.stack(parts).mean(0) for parts in zip(*along, strict=True)]
        parts = [(a - b) * slope for (a, _), (b, _), slope in zip(mine, other, slopes, strict=True)]  # [tokens, hidden] each
        if way in watched:
            wanted = [[float(part[where].sum()) for where in roles(own, changed, place)] for part in parts]
        else:
            wanted = [part.unflatten(-1, (tiny.capabilities.heads, -1)).sum((0, 2)).tolist() for part in parts]
        np.testing.assert_allclose(found.values[row], wanted, atol=1e-4)


def test_the_estimate_ranks_heads_about_as_patching_does(bundled):
    items = [item for item in suite_items("agreement") if item.changed][:12]
    exact, estimate, path = (
        experiment(bundled, items, *asked).summary.effects.ravel()
        for asked in (("patching", "heads"), ("attribution_patching", "heads"), ("attribution_patching", "heads_integrated"))
    )
    assert scipy.stats.spearmanr(exact, estimate).statistic > 0.7
    assert scipy.stats.spearmanr(exact, path).statistic > 0.8


def test_items_that_cannot_be_patched_are_left_out_with_the_reason(tiny, refusal):
    unequal = [Item("the *man/happy dog* [MASK]", "", "man", "cat"), Item("the *man* [MASK]", "", "man", "cat")]
    found = experiment(tiny, [*BOTH, *unequal], "patching")
    assert "has 5 pieces and the changed one 6" in found.left_out[len(BOTH) + 1]
    assert "*key/keys*" in found.left_out[len(BOTH) + 2]
    assert "5 pieces" in refusal(InputError, lambda: experiment(tiny, unequal, "patching"))
    assert endpoint([one.row for one in [*BOTH, *unequal]], "patching", model=tiny.name)["left_out"].keys() >= {"9", "10"}


def test_the_lens_is_the_head_on_each_hidden_state(tiny, refusal):
    found = experiment(tiny, BOTH, "lens")
    for row, (module, own, _, place, _) in enumerate(by_transformers(tiny, found)):
        with torch.no_grad():
            states = module(**own, output_hidden_states=True).hidden_states
            logits = torch.stack([module.cls.predictions(state)[0, place] for state in states])
        word, foil = logits[:, tiny.tokenizer.convert_tokens_to_ids(list(found.pieces[row]))].T
        np.testing.assert_allclose(found.values[row], word - foil, atol=1e-4)
    refusal(CapabilityError, lambda: experiment(tiny, BOTH, "lens", "tuned"))
    refusal(InputError, lambda: experiment(tiny, BOTH, "lens", target="next_sentence"))


def test_the_tuned_lens_reads_translated_states(bundled):
    items = suite_items("agreement")[:4]
    found, lens = experiment(bundled, items, "lens", "tuned"), tuned_lens(bundled)
    for row, item in enumerate(items):
        trace = bundled.trace(item.text_a)
        vector = lens.read(3, trace.states[3][trace.blanks()[0]])
        word, foil = bundled.masked_lm(vector)[bundled.tokenizer.convert_tokens_to_ids(list(found.pieces[row]))]
        assert found.values[row, 3] == pytest.approx(float(word - foil), abs=1e-4)


@pytest.mark.parametrize("how", ["forward", "backward"])
def test_attention_is_that_of_transformers(tiny, how):
    two, one = (
        Item("the *dog* was *happy* , it went", "", "", ""),
        Item("the *man* [MASK] to the store", "he bought milk", "", ""),
    )
    pieces = Item("the dog *and* [MASK] it", "", "", "")  # a ##n ##d
    asked = (two, [2], [4], [1, 3, 6, 7]), (one, [3], [2], [1, 4, 5, 6, 8, 9, 10]), (pieces, [6], [3, 4, 5], [1, 2, 7])
    nulls = []
    found, module = experiment(tiny, [two, one, pieces], "attention", how), eager_bert(tiny)
    for row, (item, *ends, others) in enumerate(asked):
        inputs = tiny.tokenizer(*([item.text_a, item.text_b] if item.text_b else [item.text_a]), return_tensors="pt")
        with torch.no_grad():
            weights = torch.stack(module(**inputs, output_attentions=True).attentions)[:, 0]  # [layers, heads, query, key]
        queries, keys = ends if how == "forward" else ends[::-1]
        looks = weights[:, :, queries].mean(2)
        np.testing.assert_allclose(found.values[row], looks[..., keys].sum(-1), atol=1e-5)
        instead = [looks[..., at] if how == "forward" else weights[:, :, at][..., keys].sum(-1) for at in others]
        nulls.append([np.allclose(found.nulls[row], one, atol=1e-5) for one in instead])
    assert all(map(any, nulls)), "another word, each of one piece"
    np.testing.assert_allclose(found.summary.nulls, found.nulls.mean(0), atol=1e-6)


def test_a_null_is_what_the_test_and_the_other_half_are_held_to():
    rng = np.random.default_rng(0)
    nulls = rng.random((60, 3, 4))
    values = nulls + rng.normal(0, 0.1, nulls.shape)
    values[:, 1, 2] += 0.3
    found = summarise(values, 0, lambda means: QUESTIONS["attention"].pick("", means), np.arange(60), nulls=nulls)
    assert found.selected == (1, 2)
    assert (found.q < 0.05).sum() == 1
    assert found.held_out.random == pytest.approx(float(found.nulls[1, 2]), abs=0.1)
    assert found.held_out.low > found.held_out.random_low


def test_heads_off_for_the_next_sentence_is_that_of_hooks(tiny, refusal):
    found = experiment(tiny, [[*texts, "", ""] for texts in TEXTS], target="next_sentence")
    module, heads = eager_bert(tiny), tiny.capabilities.heads
    assert set(found.pieces) == {tuple(tiny.pair_names)}

    @torch.no_grad()
    def difference(inputs):
        is_next, not_next = module(**inputs).seq_relationship_logits[0].tolist()
        return is_next - not_next

    for row, texts in enumerate(TEXTS):
        inputs = tiny.tokenizer(*texts, return_tensors="pt")
        before = difference(inputs)
        assert found.before[row] == pytest.approx(before, abs=1e-4)
        for (layer, head), value in np.ndenumerate(found.values[row]):
            with zeroed(every_dense(module), heads, [(layer, head)]):
                assert value == pytest.approx(difference(inputs) - before, abs=1e-4)
    experiment(tiny, [[*texts, "", ""] for texts in TEXTS], how="mean", target="next_sentence")
    assert "item 1" in refusal(InputError, lambda: experiment(tiny, [["he went", "", "", ""]] * 2, target="next_sentence"))


def test_labels_of_a_fine_tuned_head(variant_folders, tiny, refusal):
    model = explorer.load(str(variant_folders["classifier"]))
    labels = model.own_head.labels
    rows = [[*texts, labels[0], labels[1]] for texts in TEXTS]
    found = experiment(model, rows, target="label")
    module = transformers.AutoModelForSequenceClassification.from_pretrained(variant_folders["classifier"]).eval()
    for row, texts in enumerate(TEXTS):
        with torch.no_grad():
            first, second, *_ = module(**model.tokenizer(*texts, return_tensors="pt")).logits[0].tolist()
        assert found.before[row] == pytest.approx(first - second, abs=1e-4)
    assert found.pieces[0] == labels[:2]
    refusal(InputError, lambda: experiment(model, [[*texts, "no label", ""] for texts in TEXTS], target="label"))
    refusal(CapabilityError, lambda: experiment(tiny, rows, target="label"), tiny.name)


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_is_answered_saved_and_opened_again(tiny, question, tmp_path, refusal):
    rows = [one.row for one in BOTH[:4]]
    how = "words" if question in ("erase", "direction") else ""  # of no concept that has a list
    answer = endpoint(rows, question, how, model=tiny.name)
    assert answer == json.loads(json.dumps(answer, allow_nan=False))
    assert answer["provenance"]["question"] == question
    assert [len(labels) for labels in answer["places"].values()] == list(np.shape(answer["effects"]))
    found = experiment(tiny, BOTH[:4], question, how)
    explorer.save_experiment(found, tmp_path / "run.json")
    again = explorer.open_experiment(tmp_path / "run.json")
    refusal(InputError, lambda: explorer.open_experiment(tmp_path / "none.json"))
    np.testing.assert_allclose(again.summary.effects, found.summary.effects, atol=1e-4)
    assert found.summary.effects[again.summary.selected] == pytest.approx(found.summary.effects[found.summary.selected], abs=1e-4)
    assert (again.items, again.left_out, again.axes) == (found.items, found.left_out, found.axes)
    assert again.also.keys() == found.also.keys() == set(found.question.also)
    for name, array in found.also.items():
        np.testing.assert_allclose(again.also[name], array, atol=1e-5)
