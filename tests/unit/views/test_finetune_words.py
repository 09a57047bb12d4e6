"""The kind 'Every word' of Fine-tune: what its views say, and how typed tags are read."""

import re
from dataclasses import replace

import numpy as np
import pytest

from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.finetune.cards import OURS
from explorer.finetune.compute import store
from explorer.finetune.compute.export import pack
from explorer.finetune.compute.store import new_run
from explorer.finetune.compute.task import Task, run_training
from explorer.finetune.examples import ExamplesView
from explorer.finetune.outcome import Outcome
from explorer.finetune.recipe import TEXTS, TYPED, WORDS, Recipe
from explorer.finetune.result import Result, in_context
from explorer.finetune.runs import Runs
from explorer.finetune.sources import read_tags
from explorer.finetune.try_it import TryIt
from explorer.text.tagged import split_words
from explorer.ui.subject import Selection, Subject

SENTENCE = next(texts for labels, texts in OURS.items() if "B-PER" in labels)[0][0]


@pytest.fixture(scope="module")
def subject(bundled):
    return Subject.of(bundled.trace("a dog"), Selection())


@pytest.fixture(scope="module")
def run(subject):
    return Outcome(kind=WORDS).find(subject)


def typed(**given):
    return ExamplesView(kind=WORDS, source=TYPED, **given)


def test_it_opens_with_names_that_are_found(subject, run):
    assert run.kind == "tags"
    scores = run.held_out.entities(run.predictor.labels)
    assert scores[0].f1 >= 0.75
    status = Outcome(kind=WORDS).compute(subject)["status"]
    assert f"F1 of whole names {scores[0].f1:.1%} (seqeval)" in status
    assert f"accuracy {run.score:.1%}" in status
    said = Outcome(kind=WORDS).finding(subject).text
    assert "held-out words" in said
    assert int(re.search(r"F1 of whole names, remembered: (\d+)%", said)[1]) / 100 < scores[0].f1 - 0.3


def test_the_sentence_to_try_is_tagged_right(subject):
    """The same word is a name, a verb and a month, and all three are told apart."""
    shown = TryIt(kind=WORDS).compute(subject)
    assert shown["tried"]["value"] == SENTENCE
    tags = [(word, cell["text"]) for word, cell in zip(shown["row"]["columns"], shown["row"]["cells"][0], strict=True)]
    names = [pair for pair in tags if pair[1] != "O"]
    assert [word for word, _ in names] == ["May", "Brown", "Apple", "London", "May"]
    assert [tag for _, tag in names] == ["B-PER", "I-PER", "B-ORG", "B-LOC", "B-TIME"]
    assert ("may", "O") in tags
    assert "Least sure of" in shown["note"]
    assert "map" not in shown
    long = TryIt(kind=WORDS, tried="word " * 700).compute(subject)
    assert "the first 510 of 700 words only" in long["note"]
    assert TryIt(kind=WORDS, tried=" ").compute(subject)["note"] == ""


def test_a_loaded_run_of_another_kind_is_shown_at_once(subject):
    text = store.keep(replace(Outcome().find(subject), id=""))
    words = Outcome(kind=WORDS).compute(subject)
    back = Runs(kind=WORDS, run=words["run"], of=words["of"]).on_load(subject, pack(text)).settings
    assert back["kind"] == TEXTS
    assert Outcome(kind=TEXTS, run=back["run"], of=back["of"]).find(subject).id == back["run"]


def test_confusion_scores_and_mistakes_tell_of_the_same_words(subject, run):
    held, labels = run.held_out, run.predictor.labels
    shown = Result(kind=WORDS).compute(subject)
    wrong = int((held.said != held.targets).sum())
    assert shown["note"].startswith(f"{wrong} of {len(held.targets)}")
    mistakes = shown["sentences"]["value"]["data"]
    assert len(mistakes) == wrong
    assert all(right != said.split(",")[0] for _, right, said in mistakes)
    assert all("[" in sentence for sentence, _, _ in mistakes)
    place = labels.index("B-PER")
    cell = Result(kind=WORDS).on_picture(subject, [place, place]).settings
    listed = Result(kind=WORDS, **cell).compute(subject)["sentences"]["value"]["data"]
    assert len(listed) == min(50, int(((held.targets == place) & (held.said == place)).sum()))
    with pytest.raises(InputError, match="no such cell"):
        Result(kind=WORDS).on_picture(subject, [99, 0])
    rows = shown["scores"]["value"]["data"]
    assert [row[0] for row in rows] == ["all together", "LOC", "ORG", "PER", "TIME"]
    word = int(np.flatnonzero(held.sentences == held.sentences[-1])[0])
    assert in_context(held, word).startswith(f"[{held.words[word]}] ")
    assert SENTENCE not in [text for text, _ in held.pairs]
    assert sum(len(text.split(" ")) for text, _ in held.pairs) == len(held.words)


def test_typed_words_have_the_tags_written_behind_them(subject):
    shown = typed().compute(subject)
    assert "8 sentences" in shown["about"]
    assert " ".join(cell["text"] for cell in shown["tagged"]["cells"][0]) == "COUNT SIZE DRINK O COUNT DRINK O O O"
    read = read_tags("Two/COUNT small/SIZE, and/or B-1/X/Y-Z... /A A/b AC/DC!")
    assert " ".join(read.words) == "Two small , and / or B - 1 / X . . . / A A / b AC !"
    assert " ".join(read.tags) == "COUNT SIZE O O O O Y-Z Y-Z Y-Z Y-Z Y-Z O O O O O O O O DC O"
    assert "no sentences" in typed(tagged_lines=" ").compute(subject)["about"]
    assert typed(tagged_lines="one/A two\nthree").examples()[0].classes == ["A", "O"]
    assert "tag 'O'" in typed(tagged_lines="one\ntwo").compute(subject)["about"]


def test_the_sentence_to_try_fits_the_tags(subject):
    examples, _ = typed().examples()
    plan = Recipe(kind=WORDS, layer=4, epochs=2).plan(subject.model)
    mine = new_run(finished(run_training(Task(subject.model, examples, plan))), "Café")
    shown = TryIt(kind=WORDS, run=mine.id).compute(subject)
    assert shown["tried"]["value"] == shown["sample"]["choices"][1][1]
    assert split_words(shown["tried"]["value"]) == list(shown["row"]["columns"])
    kept = TryIt(kind=WORDS, run=mine.id, tried="my own sentence").compute(subject)
    assert "value" not in kept["tried"]
