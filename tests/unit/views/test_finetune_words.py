"""The choice 'Every word' of Fine-tune: what its views say, and what clicks mean."""

import numpy as np
import pytest

from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.finetune.compute import store
from explorer.finetune.compute.tag_task import Tagging
from explorer.finetune.compute.training import new_run, run_training
from explorer.finetune.example_settings import TYPED
from explorer.finetune.outcome import WordBaselines, WordOutcome
from explorer.finetune.recipe import WordRecipe
from explorer.finetune.words_examples import STARTER, WordExamples, clicked
from explorer.finetune.words_result import NAMES, TAGS, WordResult, in_context
from explorer.finetune.words_try import SENTENCES, WordTry
from explorer.text.tagged import split_words
from explorer.ui.subject import Selection, Subject


@pytest.fixture(scope="module", autouse=True)
def own_store(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BERT_EXPLORER_RUNS", str(tmp_path_factory.mktemp("runs")))
        yield


@pytest.fixture(scope="module")
def subject(bundled):
    return Subject.of(bundled.trace("a dog"), Selection())


@pytest.fixture(scope="module")
def run(subject):
    return WordOutcome().find(subject)


def test_it_opens_with_names_that_are_found(subject, run):
    assert run.kind == "tags"
    scores = run.held_out.entities(run.predictor.labels)
    assert scores[0].f1 >= 0.75
    status = WordOutcome().compute(subject)["status"]
    assert f"F1 {scores[0].f1:.1%}" in status
    assert f"accuracy {run.score:.1%}" in status
    assert "held-out words" in WordOutcome().finding(subject).text
    groups = WordBaselines().compute(subject)["compared"]["groups"]
    assert [row["label"] for row in groups[0]["rows"]] == ["this run", "word memory", "most frequent tag"]
    assert groups[1]["rows"][0]["share"] == pytest.approx(scores[0].f1)
    assert groups[1]["rows"][1]["share"] < scores[0].f1 - 0.3


def test_the_sentence_to_try_is_tagged_right(subject):
    """The same word is a name, a verb and a month, and all three are told apart."""
    shown = WordTry().compute(subject)
    tags = [(word, cell["text"]) for word, cell in zip(shown["row"]["columns"], shown["row"]["cells"][0], strict=True)]
    names = [pair for pair in tags if pair[1] != "O"]
    assert [word for word, _ in names] == ["May", "Brown", "Apple", "London", "May"]
    assert [tag for _, tag in names] == ["B-PER", "I-PER", "B-ORG", "B-LOC", "B-TIME"]
    assert ("may", "O") in tags
    assert "Least sure of" in shown["note"]
    long = WordTry(tag_tried="word " * 700).compute(subject)
    assert "the first 510 of 700 words only" in long["note"]
    assert WordTry(tag_tried=" ").compute(subject)["note"] == ""


def test_confusion_scores_and_mistakes_tell_of_the_same_words(subject, run):
    held, labels = run.held_out, run.predictor.labels
    shown = WordResult().compute(subject)
    wrong = int((held.said != held.targets).sum())
    assert shown["note"].startswith(f"{wrong} of {len(held.targets)}")
    assert len(shown["mistakes"]["value"]) == wrong
    assert all(right != said for _, right, said in shown["mistakes"]["value"])
    assert all("[" in sentence for sentence, _, _ in shown["mistakes"]["value"])
    place = labels.index("B-PER")
    clicked = WordResult().on_tag_confusion(subject, [place, place]).settings
    cell = WordResult(**clicked).compute(subject)["mistakes"]
    assert len(cell["value"]) == min(50, int(((held.targets == place) & (held.said == place)).sum()))
    with pytest.raises(InputError, match="no such cell"):
        WordResult().on_tag_confusion(subject, [99, 0])
    rows = WordResult(tag_look=NAMES).compute(subject)["tag_scores"]
    assert [row[0] for row in rows] == ["all together", "LOC", "ORG", "PER", "TIME"]
    assert len(WordResult(tag_look=TAGS).compute(subject)["tag_scores"]) == len(labels)
    word = int(np.flatnonzero(held.sentences == held.sentences[-1])[0])
    assert in_context(held, word).startswith(f"[{held.words[word]}] ")


def test_typed_words_get_the_tag_that_was_chosen(subject):
    view = WordExamples(words_from=TYPED)
    assert "8 sentences" in view.compute(subject)["about"]
    first = STARTER[0][0]
    change = WordExamples(words_from=TYPED, words_tag="POLITE").on_tagged(subject, [0, 7])
    view = WordExamples(words_from=TYPED, words_tag="POLITE", **change.settings)
    assert view.tags_of(first)[7] == "POLITE"
    assert "POLITE" in view.compute(subject)["words_tag"]["choices"]
    again = WordExamples(words_from=TYPED, words_tag="POLITE", **view.on_tagged(subject, [0, 7]).settings)
    assert again.tags_of(first)[7] == "O"
    assert view.on_tagged(subject, [0, 9_999]).settings == {}
    with pytest.raises(InputError, match="Choose a tag first"):
        WordExamples(words_from=TYPED, words_tag=" ").on_tagged(subject, [0, 0])
    assert "no sentences" in WordExamples(words_from=TYPED, words_typed=" ").compute(subject)["about"]
    lines = WordExamples(words_from=TYPED, words_typed="one two\nthree", words_clicked=(("one two", ("A", "O")),))
    assert lines.examples()[0].classes == ["A", "O"]
    assert "tag 'O'" in WordExamples(words_from=TYPED, words_typed="one\ntwo", words_clicked=()).compute(subject)["about"]
    assert clicked([["a", ["X"]], ["b", [1]], [3, ["X"]], ["c", "X"], "d"]) == (("a", ("X",)),)
    assert clicked(None) == clicked({"a": ["X"]}) == ()


def test_a_run_of_another_kind_is_not_looked_at(subject, run):
    from explorer.finetune.outcome import Outcome

    classes = Outcome().find(subject)
    assert classes.kind == "classes"
    assert WordOutcome(run=classes.id).find(subject).id == run.id
    assert Outcome(run=run.id).find(subject).id == classes.id
    assert store.fetch(run.id).kind == "tags"


def test_the_sentence_to_try_fits_the_tags(subject):
    examples, _ = WordExamples(words_from=TYPED).examples()
    plan = WordRecipe(tag_epochs=2).plan(subject.model)
    mine = new_run(finished(run_training(Tagging(subject.model, examples, plan))), "Café")
    shown = WordTry(run=mine.id).compute(subject)
    assert shown["tag_tried"] == shown["tag_offered"] == shown["tag_sample"]["choices"][0]
    assert split_words(shown["tag_tried"]) == list(shown["row"]["columns"])
    kept = WordTry(run=mine.id, tag_tried="my own sentence").compute(subject)
    assert "tag_tried" not in kept
    back = WordTry(tag_tried=shown["tag_tried"], tag_offered=shown["tag_offered"]).compute(subject)
    assert back["tag_tried"] == SENTENCES[0]
