"""The heads that checkpoints were fine-tuned with, of every family, against transformers' own classes."""

import shutil

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import explorer
from explorer.bert.families import ANSWER, LABELS, TAGS
from explorer.core.errors import InputError, ModelError
from explorer.overview.compute import run_of
from explorer.overview.run import answers_of, opens_on
from explorer.tabs import VIEWS
from explorer.task_head.endpoints import own_head as endpoint
from explorer.techniques import own_head
from explorer.ui.answers import says_of
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.subject import Subject
from tests.families import HEADINGS, KINDS, PAIR, TUNED, edit, own, tuned_error, write_tuned

TASKS = dict(zip(TUNED, (LABELS, TAGS, ANSWER), strict=True))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
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


def test_a_word_decides_by_what_its_masking_takes(models):
    trace, masked = (models[LABELS].trace(text, PAIR[1]) for text in (PAIR[0], "Who [MASK] to the store?"))
    words, effects = own_head.word_effects(trace, 2)
    assert words[:3] == ["who", "went", "to"]
    assert effects[1] == pytest.approx(own_head.labels(trace).shares[2] - own_head.labels(masked).shares[2], abs=1e-5)


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


PROBLEMS = (None, "single_label_classification", "multi_label_classification", "regression")


def pipeline(task, folder, **options):
    return transformers.pipeline(task, str(folder), device="cpu", **options)


@pytest.mark.parametrize("named", [True, False], ids=["named", "numbered"])
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_every_share_that_is_shown_is_the_score_of_transformers_pipeline(problem, count, named, tmp_path):
    labels = {"id2label": {i: f"kind {i}" for i in range(count)}, "label2id": {f"kind {i}": i for i in range(count)}}
    folder = write_tuned(tmp_path / "model", "bert", TUNED[0], **labels)
    if not named:  # as old checkpoints have it: transformers numbers the labels
        edit(folder, drop=("id2label", "label2id"), num_labels=count)
    # transformers refuses a single label of single_label_classification: its rule for one label counts.
    edit(folder, problem_type=None if (problem, count) == (PROBLEMS[1], 1) else problem)
    scores = pipeline("text-classification", folder, top_k=None)([PAIR[1]])[0]
    theirs = {one["label"]: one["score"] for one in scores}
    edit(folder, problem_type=problem)
    model = explorer.load(folder)
    subject = Subject.of(model.trace(PAIR[1]))
    best = max(theirs, key=theirs.get)

    found = own_head.labels(subject.trace)
    assert dict(zip(found.labels, found.shares.tolist(), strict=True)) == pytest.approx(theirs, abs=1e-5)
    asked = endpoint(PAIR[1], model=str(folder))
    assert dict(zip(asked["labels"], asked["shares"], strict=True)) == pytest.approx(theirs, abs=1e-5)
    view = VIEWS["own-head/labels"]()
    shown, finding = view.compute(subject), view.finding(subject).text
    answers, beside = answers_of(subject, run_of(subject.trace), None, opens_on(subject)), says_of(subject)["answers"]
    assert opens_on(subject) == opens_on(Subject.of(model.trace("Who [MASK] it?"))) == 0, "[CLS], where the head reads"
    if problem == "regression":
        numbers = [", ".join(f"“{label}”: {theirs[label]:.{digits}f}" for label in found.labels) for digits in (3, 2)]
        assert [shown["number"], finding] == [numbers[0].replace("-", "−"), f"{numbers[1].replace('-', '−')}."]
        assert (answers, beside, shown.get("verdict")) == ([], [], None)
        return
    rows = {row["label"]: row["share"] for row in shown["verdict"]["groups"][0]["rows"]}
    assert rows == pytest.approx(theirs, abs=1e-5)
    assert finding.startswith(f"“{best}” with {whole_percent(theirs[best])}")
    assert {name: share for name, share, _ in answers[0].bars}[best] == pytest.approx(theirs[best], abs=1e-5)
    assert (beside[0]["answer"], beside[0]["share"]) == (best, whole_percent(theirs[best]))


def test_every_tag_that_is_shown_is_that_of_transformers_pipeline(folders, models):
    trace = models[TAGS].trace(PAIR[1])
    theirs = pipeline("token-classification", folders[TAGS], ignore_labels=[])(PAIR[1])
    asked = endpoint(PAIR[1], model=str(folders[TAGS]))
    inside = trace.encoding.text_positions
    assert [asked["labels"][token] for token in inside] == [one["entity"] for one in theirs]
    assert [asked["shares"][token] for token in inside] == pytest.approx([one["score"] for one in theirs], abs=1e-5)
    assert [trace.encoding.offsets[token] for token in inside] == [(one["start"], one["end"]) for one in theirs]


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ({"id2label": {"0": "sad", "1": "calm"}}, "classifier.weight is 3 × 16, and id2label or num_labels asks for 2 × 16"),
        ({"drop": ("id2label",), "num_labels": 5}, "classifier.weight is 3 × 16, and id2label or num_labels asks for 5 × 16"),
        ({"id2label": {"sad": 0, "calm": 1, "happy": 2}}, "id2label in the config.json"),
        ({"id2label": ["sad", "calm", "happy"]}, "id2label in the config.json"),
    ],
    ids=str,
)
def test_labels_that_do_not_fit_the_weights_are_named(entries, told, folders, tmp_path, refusal):
    folder = shutil.copytree(folders[LABELS], tmp_path / "odd")
    edit(folder, **entries)
    assert told in refusal(ModelError, lambda: explorer.load(folder), typed=folder)


class TestFiles:
    @pytest.mark.parametrize("fault", ["shape", "nan", "absent"])
    def test_a_head_that_is_no_good(self, fault, folders, tmp_path):
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
        folder = shutil.copytree(folders[LABELS], tmp_path / "other")
        edit(folder, architectures=classes)
        assert explorer.load(folder).own_head is None


@pytest.mark.parametrize("task", [LABELS, TAGS, ANSWER])
def test_each_task_has_one_view_that_shows_it(task, models):
    subject = Subject.of(models[task].trace(*PAIR))
    shown = {name: view().compute(subject) for name, view in VIEWS.items() if name.startswith("own-head/")}
    filled = [name for name, content in shown.items() if content]
    assert filled == [{LABELS: "own-head/labels", TAGS: "own-head/tags", ANSWER: "own-head/answer"}[task]]
    assert shown[filled[0]]["check"]["text"].startswith("✓")


def test_the_table_of_families_is_in_the_guide(guide):
    assert f"| {' | '.join(HEADINGS)} |" in guide["models"]
    for name in KINDS:
        assert f"\n| {name} | ✓ |" in guide["models"], name
