"""The training and its outcome: the buttons, the final score, the curves, the next step, and baselines without BERT."""

from collections.abc import Generator
from dataclasses import replace
from typing import Any

from explorer.core import jobs
from explorer.core.errors import ExplorerError, InputError
from explorer.core.limits import WORKS
from explorer.core.scheduling import AT_ONCE, TRAINING
from explorer.finetune import live
from explorer.finetune.compute import store
from explorer.finetune.compute.questions import Questions
from explorer.finetune.compute.run import CORRELATIONS, HeldOutTags, Run
from explorer.finetune.compute.task import Task, go_on
from explorer.finetune.kinds import KINDS, TEXTS
from explorer.finetune.pictures.training import learning_curves
from explorer.finetune.recipe import Recipe, defaults
from explorer.finetune.run import NothingTrained, RunView, run_id, run_ids
from explorer.finetune.sources import AnyExamples, ExampleSettings, size_of
from explorer.finetune.train import since, train_in_steps
from explorer.finetune.verdict import cost, duration, hardly_learned, judge, names_found, next_step, summary
from explorer.training.tagging import MEMORY, MEMORY_OF_NAMES
from explorer.ui.layout import row
from explorer.ui.pictures.bars import bar_groups
from explorer.ui.settings import memory
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, Finding, button, chart, part, props, runs_as, sentence, show

JUDGED = {
    "classes": "Right on held-out sentences",
    "number": "Rank correlation with what is right, held out",
    "tags": "Held-out words that are tagged right",
    "spans": "Exactly right on held-out questions",
}
NOTHING = "Nothing was trained; the former run is still below."
STOPPED = "Stopped; the best so far stays. "
BUSY: Content = {"train": props(interactive=False), "cancel": props(visible=True)}
IDLE: Content = {"train": props(interactive=True), "cancel": props(visible=False)}


class Baselines(RunView):
    """The held-out score beside baselines without BERT; of tags also that of whole names."""

    name, question = "fine-tune/baselines", "How much of the score needs no BERT?"
    folded = question
    compared = part("bars")

    def show_run(self, subject: Subject, run: Run) -> Content:
        """This run's score, and the baselines."""
        others = [(name, max(0, value), "") for name, value in reversed(run.baselines.items()) if name != MEMORY_OF_NAMES]
        groups = [(JUDGED[run.kind], [("this run", max(0, run.score), ""), *others])]
        if run.held_out is not None and isinstance(run.held_out, HeldOutTags) and (scores := names_found(run)):
            remembered = (MEMORY, run.baselines.get(MEMORY_OF_NAMES, 0.0), "")
            groups.append(("F1 of whole names", [("this run", scores[0].f1, ""), remembered]))
        return {"compared": bar_groups(groups, form=".2f" if run.measure in CORRELATIONS else "")}


class Outcome(RunView, ExampleSettings, Recipe):
    """Loss and accuracy by epoch, with the epoch that was kept marked, and what to try next."""

    name, question = "fine-tune/outcome", "How did the training go?"
    fold = "How the training went"
    layout = (row("train", "go_on", "cancel"),)
    names = ("next_step", "train", "go_on", "cancel", "run", "runs", "visitor", "aside")
    training: str | None = memory(None, kept=run_id, linked=False)
    next_step = button("Next step", optional=True, wide=True)
    train = button("Train", variant="primary")
    go_on = button("Go on from this run", optional=True)
    cancel = button("Cancel", visible=False)
    status = sentence(classes="caption", keep_height=True)
    curves = chart("Loss and accuracy by epoch", height=270, more=True)

    def compute(self, subject: Subject) -> Content:
        """The outcome; nothing new while a running training reports here."""
        return {} if jobs.is_running(self.training) else super().compute(subject)

    def show_run(self, subject: Subject, run: Run) -> Content:
        """The outcome; a button for what is not instant, and one for the next step, with what each costs."""
        step = next_step(run, subject.model.capabilities)
        label = step and f"Next: {step.text} ({self._cost(subject, **step.settings)})"
        return {
            "status": summary(run),
            "curves": learning_curves(run.history, len(run.history), run.best),
            "train": props(value=f"Train ({self._cost(subject)})", visible=self._is_worth_training(subject, run)),
            **({"go_on": f"Go on: {run.settings['epochs']} more epochs"} if _can_go_on(run) else {}),
            **({"next_step": props(value=label, visible=True, interactive=True)} if label else {}),
        }

    def _is_worth_training(self, subject: Subject, run: Run) -> bool:
        """Whether a training may give another run: one on texts by the first settings is made as they are typed."""
        if self.kind != TEXTS or not live.is_of_examples(run.id):
            return True
        begun = defaults(self.kind, subject.model.capabilities)
        usual = {name: (begun.get(name), getattr(Recipe(), name)) for name in Recipe.settings if name != "kind"}
        return any(getattr(self, name) not in values for name, values in usual.items())

    def without_run(self, why: str) -> Content:
        return {**super().without_run(why), "status": why, "train": props(value="Train", visible=True)}

    def seen(self, subject: Subject) -> Run | None:
        """The run shown; None while another one is being trained."""
        try:
            return None if jobs.is_running(self.training) else self.find(subject)
        except NothingTrained:
            return None

    def finding(self, subject: Subject) -> Finding | None:
        if (run := self.seen(subject)) is None or not run.history:
            return None
        return Finding(hardly_learned(run) or judge(run))

    def begin_train(self) -> Content:
        waits = f"Waiting for a free place: {WORKS.most} trainings run at a time."
        return {**BUSY, "status": waits if jobs.count_running() >= WORKS.most else "Starting."}

    def fail_train(self) -> Content:
        return {**IDLE, "status": NOTHING}

    @runs_as(TRAINING)
    def on_train(self, subject: Subject, _: None) -> Generator[Content, None, Change]:
        return (yield from self._train(subject))

    @runs_as(TRAINING)
    def on_next_step(self, subject: Subject, _: None) -> Generator[Content, None, Change]:
        """Do what the button proposes."""
        step = next_step(self.find(subject), subject.model.capabilities)
        return (yield from self._train(subject, step.settings if step else {}))

    @runs_as(TRAINING)
    def on_go_on(self, subject: Subject, _: None) -> Generator[Content, None, Change]:
        """Train on from the run that is shown, by its own settings."""
        return (yield from self._train(subject, begun=self.find(subject)))

    begin_go_on, fail_go_on = begin_train, fail_train

    def begin_next_step(self) -> Content:
        return {**self.begin_train(), "next_step": props(interactive=False)}

    def fail_next_step(self) -> Content:
        return {**self.fail_train(), "next_step": props(interactive=True)}

    @runs_as(AT_ONCE)
    def on_cancel(self, subject: Subject, _: None) -> Change:
        # The button is hidden, as after the end: a word in the status could arrive after the training's last one.
        stopped = any(jobs.stop(identifier) for identifier in (self.training, *self.runs))
        return show(cancel=props(visible=not stopped))

    def _train(
        self, subject: Subject, settings: dict[str, Any] | None = None, begun: Run | None = None
    ) -> Generator[Content, None, Change]:
        """Train by the recipe, with these `settings` in place of its own, which the page then shows; or go on with a run."""
        try:
            examples, _note = self.examples()
            task = replace(self, **(settings or {}))._task(subject, examples, begun)
        except ExplorerError as why:
            return show(**IDLE, status={"text": f"{why} Nothing was trained.", "kind": "error"})
        identifier, before = store.new_id(), self._shown(subject)
        yield {
            "training": identifier,
            "runs": run_ids((identifier, *self.runs)),
            "visitor": self.visitor,
            "status": "Reading the examples.",
        }
        with jobs.job(identifier) as stop:
            run = yield from train_in_steps(task, self.title(examples), stop, (identifier, self.visitor))
        if run is None:
            return show(**IDLE, status="Stopped before the first epoch had ended; nothing is kept.")
        said = STOPPED if stop.is_set() else since(before, run)
        return Change(settings={**(settings or {}), "run": run.id}, content={**IDLE, "status": f"{said}{summary(run)}"})

    def _task(self, subject: Subject, examples: AnyExamples, begun: Run | None) -> Task:
        """The plan of the training. Raises ExplorerError."""
        if begun is None:
            plan = self.plan(subject.model)
        elif not isinstance(examples, Questions) and begun.predictor.labels == tuple(examples.classes):
            plan = go_on(subject.model, begun.predictor, begun.settings)
        else:
            raise InputError("The classes are others than those of this run; train on them first.")
        task = KINDS[self.kind].task(subject.model, examples, plan).fitted()
        task.split()
        return task

    def _shown(self, subject: Subject) -> Run | None:
        """The run shown before another one is trained; None if there is none."""
        try:
            return self.find(subject)
        except ExplorerError:
            return None

    def _cost(self, subject: Subject, **settings: Any) -> str:
        """About how long a training takes by the recipe, with these settings in place of its own."""
        try:
            plan, (examples, _) = replace(self, **settings).plan(subject.model), self.examples()
            return duration(cost(subject.model.capabilities, plan, *size_of(examples)))
        except ExplorerError:  # the recipe or the examples say why
            return "see the settings"


def _can_go_on(run: Run) -> bool:
    """Whether more steps may change something: a head that is solved directly is at its end, and a file has no split."""
    by_steps = run.kind == "classes" and run.settings.get("optimizer") == "adam" and run.held_out is not None
    return by_steps and {"layer", "pooling", "layers_trained", "keep_best", "epochs"} <= run.settings.keys()
