"""The heads that checkpoints were fine-tuned with, of every family, against transformers' own classes."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import explorer
from explorer.bert.families import ANSWER, LABELS, TAGS
from explorer.core.errors import CapabilityError, InputError, ModelError
from explorer.tabs import VIEWS
from explorer.techniques import own_head
from explorer.ui.subject import Subject
from tests.families import HEADINGS, KINDS, PAIR, TUNED, own, tuned_error, write_tuned

TASKS = dict(zip(TUNED, (LABELS, TAGS, ANSWER), strict=True))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A BERT tuned for each task."""
    return {TASKS[ending]: write_tuned(tmp_path_factory.mktemp("tuned") / ending, "bert", ending) for ending in TUNED}


@pytest.fixture(scope="module")
def models(folders):
    return {task: explorer.load(folder) for task, folder in folders.items()}


@pytest.mark.parametrize("ending", TUNED)
@pytest.mark.parametrize("name", KINDS)
def test_every_tuned_head_says_what_transformers_says(name, ending, tmp_path):
    assert tuned_error(tmp_path / "model", name, ending) < 1e-5
    model = explorer.load(tmp_path / "model")
    assert model.capabilities.own_head == TASKS[ending]
    assert not model.capabilities.fill_mask
    assert own_head.own_error(model.trace(*PAIR)) < 1e-5


def test_labels_sum_to_one_and_the_words_are_those_that_decided(models):
    trace = models[LABELS].trace(*PAIR)
    found = own_head.labels(trace)
    assert found.labels == ("sad", "calm", "happy")
    assert found.shares.sum() == pytest.approx(1, abs=1e-6)
    words, effects = own_head.word_effects(trace, 2)
    assert words[:3] == ["who", "went", "to"]
    masked = models[LABELS].trace("Who [MASK] to the store?", PAIR[1])
    assert effects[1] == pytest.approx(found.shares[2] - own_head.labels(masked).shares[2], abs=1e-5)


def test_tags_are_those_of_transformers(models, folders):
    tags, shares = own_head.tags(models[TAGS].trace(*PAIR))
    theirs = own(folders[TAGS], "BertForTokenClassification", models[TAGS], PAIR).logits[0].softmax(-1)
    assert tags == ("sad", "calm", "happy")
    np.testing.assert_allclose(shares, theirs, atol=1e-5)


def test_the_best_answer_is_the_best_of_all_spans(models, folders):
    trace = models[ANSWER].trace(*PAIR)
    theirs = own(folders[ANSWER], "BertForQuestionAnswering", models[ANSWER], PAIR)
    start, end = theirs.start_logits[0].softmax(-1), theirs.end_logits[0].softmax(-1)
    inside = [token for token, side in enumerate(trace.encoding.sequences) if side == 1]
    best = max(((start[a] * end[b]).item(), a, b) for a in inside for b in inside if a <= b < a + own_head.LONGEST_ANSWER)
    found = own_head.answers(trace, 3)
    assert (found[0].start, found[0].end) == best[1:]
    assert found[0].share == pytest.approx(best[0], abs=1e-6)
    assert [one.share for one in found] == sorted((one.share for one in found), reverse=True)
    first, last = trace.encoding.offsets[best[1]][0], trace.encoding.offsets[best[2]][1]
    assert found[0].text == PAIR[1][first:last]
    with pytest.raises(InputError, match="question in A and the text in B"):
        own_head.answers(models[ANSWER].trace(PAIR[0]), 3)


def test_a_head_for_another_task_is_told(models, bundled):
    with pytest.raises(CapabilityError, match="has no head of its own for this"):
        own_head.tags(models[LABELS].trace("happy"))
    with pytest.raises(CapabilityError, match="was not fine-tuned"):
        bundled.require("own_head")


def test_labels_that_do_not_exclude_each_other_and_a_single_number(tmp_path):
    several = write_tuned(tmp_path / "several", "bert", TUNED[0], problem_type="multi_label_classification")
    found = own_head.labels(explorer.load(several).trace("happy"))
    np.testing.assert_allclose(found.shares, torch.tensor(found.logits).sigmoid(), atol=1e-6)
    number = write_tuned(tmp_path / "number", "bert", TUNED[0], id2label={0: "stars"}, label2id={"stars": 0})
    found = own_head.labels(explorer.load(number).trace("happy"))
    assert found.shares.tolist() == found.logits.tolist()
    assert len(found.shares) == 1


def test_a_label_without_a_name_is_told_by_its_place(folders, tmp_path):
    import shutil

    folder = shutil.copytree(folders[LABELS], tmp_path / "unnamed")
    entries = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(entries | {"id2label": {"0": "sad", "1": "calm", "7": "happy"}}))
    assert own_head.labels(explorer.load(folder).trace(*PAIR)).labels == ("sad", "calm", "LABEL_2")


class TestFiles:
    def test_a_checkpoint_in_shards_or_as_a_pickle_has_its_head_too(self, folders, tmp_path):
        import shutil

        import transformers

        whole = explorer.load(folders[LABELS])
        shards = shutil.copytree(folders[LABELS], tmp_path / "shards")
        (shards / "model.safetensors").unlink()
        module = transformers.BertForSequenceClassification.from_pretrained(folders[LABELS])
        module.save_pretrained(shards, max_shard_size="20KB")
        pickled = shutil.copytree(folders[LABELS], tmp_path / "pickled")
        torch.save(load_file(pickled / "model.safetensors"), pickled / "pytorch_model.bin")
        (pickled / "model.safetensors").unlink()
        for folder in (shards, pickled):
            found = own_head.labels(explorer.load(folder).trace(*PAIR))
            np.testing.assert_allclose(found.logits, own_head.labels(whole.trace(*PAIR)).logits, atol=1e-5)

    @pytest.mark.parametrize("fault", ["shape", "nan", "absent"])
    def test_a_head_that_is_no_good(self, fault, folders, tmp_path):
        import shutil

        folder = shutil.copytree(folders[LABELS], tmp_path / fault)
        tensors = load_file(folder / "model.safetensors")
        if fault == "shape":
            tensors["classifier.weight"] = torch.zeros(2, 16)
        elif fault == "nan":
            tensors["classifier.bias"][0] = torch.nan
        else:
            del tensors["classifier.bias"]
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        if fault == "absent":
            assert explorer.load(folder).own_head is None
            return
        with pytest.raises(ModelError, match="do not fit" if fault == "shape" else "infinite numbers"):
            explorer.load(folder)

    @pytest.mark.parametrize(
        "classes", [["GPT2ForSequenceClassification"], ["os.systemForTokenClassification"], [5], [None], ["x" * 999], 5, {}, "x"]
    )
    def test_only_classes_of_its_own_family_are_built(self, classes, folders, tmp_path):
        import shutil

        folder = shutil.copytree(folders[LABELS], tmp_path / "other")
        entries = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(entries | {"architectures": classes}))
        assert explorer.load(folder).own_head is None


class TestViews:
    @pytest.mark.parametrize("task", [LABELS, TAGS, ANSWER])
    def test_each_task_has_one_view_that_shows_it(self, task, models):
        subject = Subject.of(models[task].trace(*PAIR))
        shown = {name: view().compute(subject) for name, view in VIEWS.items() if name.startswith("own-head/")}
        filled = [name for name, content in shown.items() if content]
        assert filled == [{LABELS: "own-head/labels", TAGS: "own-head/tags", ANSWER: "own-head/answer"}[task]]
        assert shown[filled[0]]["check"]["text"].startswith("✓")

    def test_the_discriminator_has_the_fourth(self, tmp_path):
        from tests.families import write_family

        trace = explorer.load(write_family(tmp_path / "electra", "electra-discriminator")).trace(*PAIR)
        shown = VIEWS["own-head/replaced"]().compute(Subject.of(trace))
        assert len(shown["row"]["columns"]) == trace.kept
        assert own_head.replaced(trace).shape == (trace.kept,)


def test_the_table_of_families_is_in_the_guide(guide):
    assert f"| {' | '.join(HEADINGS)} |" in guide["models"]
    for name in KINDS:
        assert f"\n| {name} | ✓ |" in guide["models"], name
