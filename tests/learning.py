"""Trainings for tests, of any kind of task: by default a head on the last hidden state."""

from explorer.finetune.compute.questions import Questions
from explorer.finetune.compute.store import new_run
from explorer.finetune.compute.task import Task, make_plan, train_whole
from explorer.finetune.recipe import ANSWERS, KINDS, TEXTS, WORDS
from explorer.training.tagging import TaggedExamples

FIRST = {TEXTS: "mean", WORDS: "first", ANSWERS: "tokens"}


def task_for(model, examples, **settings):
    """The task for examples, by the settings of `make_plan`."""
    name = {TaggedExamples: WORDS, Questions: ANSWERS}.get(type(examples), TEXTS)
    settings = {"layer": -1, "pooling": FIRST[name], "epochs": 2, "batch_size": 8, **settings}
    return Task(model, examples, make_plan(model, predictor=KINDS[name].heads[0], **settings))


def learn(model, examples, **settings):
    return train_whole(task_for(model, examples, **settings))


def learn_run(model, examples, **settings):
    return new_run(learn(model, examples, **settings), "Test")
