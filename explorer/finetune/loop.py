"""The training loop, one batch at a time: what the model reads, what it answers, and what the optimizer does about it."""

import time
from collections.abc import Generator, Sequence
from typing import Any, ClassVar

import numpy as np

from explorer.core.cache import OnceCache
from explorer.core.errors import InputError
from explorer.core.lazy import scipy
from explorer.core.limits import RESULTS_MEGABYTES
from explorer.core.scheduling import TRAINING
from explorer.finetune.compute.loop import BATCH, MOST_TEXTS, Loop, Step, loop_plan
from explorer.finetune.compute.predictor import TrainingPlan
from explorer.finetune.pictures import in_one_line
from explorer.finetune.recipe import TEXTS, Recipe
from explorer.finetune.runs import is_quick
from explorer.finetune.sources import LABELLED, ExampleSettings
from explorer.training.examples import Examples
from explorer.ui.layout import row
from explorer.ui.pictures.base import shorten
from explorer.ui.pictures.batch_grid import batch_grid
from explorer.ui.pictures.strip_table import FIRST_NUMBERS, Column, Row, facts, number_columns, strip_table
from explorer.ui.programs import Values, as_typed, program
from explorer.ui.settings import choice, memory, number
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, button, caption, part, runs_as, sentence, show

MOST_CLASSES = 5  # whose logits fit into a table; of more, that of the right class is shown
PADDINGS = (("to the longest text of the batch", "longest"), ("to the maximum length", "max_length"))
SHOWN = 22  # characters of a text beside its numbers
EVERY = 0.3  # seconds between two pictures while an epoch runs
EPOCHS = [Column("epoch", "name"), *(Column(title, "number", form=".4f") for title in ("loss", "held-out loss", "accuracy"))]

Key = tuple[str, Examples, TrainingPlan, int]
_loops: OnceCache[Key, Loop] = OnceCache(RESULTS_MEGABYTES.bytes, lambda loop: loop.nbytes)


def place_of(value: object) -> tuple[str, int]:
    """The loop of a page by its key, and how many steps are done, from a browser's memory."""
    fine = isinstance(value, list | tuple) and len(value) == 2 and isinstance(value[0], str) and type(value[1]) is int
    return (value[0], max(0, value[1])) if fine else ("", 0)  # type: ignore[index]


class LoopView(ExampleSettings, Recipe):
    """The next batch of a training, the step on it, and the epochs so far."""

    name, question = "fine-tune/loop", "What happens in each step of a training?"
    folded = "The loop, one batch at a time"
    layout = (row("step", "epoch", "restart"),)
    names: ClassVar[Sequence[str]] = ("step", "epoch", "restart", "cut_at", "padding")  # others are in other views
    cut_at: int = number(64, "Maximum length in tokens", low=4, high=128, box=True, elem_classes="inline")
    padding: str = choice(PADDINGS, "Padding", menu=True, elem_classes="inline long")
    at: tuple[str, int] = memory(("", 0), kept=place_of, linked=False, with_files=True)
    step = button("Step", variant="primary")
    epoch = button("Epoch")
    restart = button("Back to the start")
    about = sentence()
    tokens = part("words", optional=True)
    vectors = part("strips", optional=True)
    answers = part("strips", optional=True)
    update = part("strips", optional=True)
    history = part("strips", optional=True)
    script = part("code", lines=16, max_lines=24, optional=True)
    help = caption(
        "Each batch is a rectangle of ids: shorter texts are filled up with [PAD], and the attention mask is 0 there. "
        "More padding costs time and changes no loss. The head "
        "reads one vector per text and gives a logit to each class. Softmax turns logits into probabilities. The loss of a text "
        "is −ln of the probability of its right class, and the loss of the batch is the mean. The optimizer is AdamW (Loshchilov "
        "& Hutter 2019). Its rate rises during the warm-up and falls to 0 afterwards (Devlin et al. 2019, appendix A.2). "
        "The loop uses the model and rates of Settings, always with a linear head, small batches and no dropout. *Train* is "
        "faster: it solves a small head directly, and uses larger batches. The program needs PyTorch and transformers only, and "
        "prints the same losses."
    )

    def compute(self, subject: Subject) -> Content:
        """The next batch, if the texts are read quickly or the loop has begun. Raises InputError."""
        if self.kind != TEXTS:
            return {"about": LABELLED}
        key = self._key(subject)
        done = self._done(key)
        if done == 0 and _loops.peek(key) is None and not is_quick(subject, key[1], 2):
            return {"about": f"The loop reads {min(MOST_TEXTS, len(key[1]))} texts first. Press Step to begin."}
        return self._draw(subject, key, done)

    def on_step(self, subject: Subject, _: Any) -> Change:
        key = self._key(subject)
        return show(**self._draw(subject, key, self._done(key) + 1))

    @runs_as(TRAINING)
    def on_epoch(self, subject: Subject, _: Any) -> Generator[Content, None, Change]:
        key = self._key(subject)
        loop, done = self.loop(subject, key), self._done(key)
        end = min(loop.total, (done // loop.per_epoch + 1) * loop.per_epoch)
        shown = time.monotonic()
        for now in range(done + 1, end):
            loop.step(now - 1)
            if time.monotonic() - shown >= EVERY:
                shown = time.monotonic()
                yield self._draw(subject, key, now)
        return show(**self._draw(subject, key, end))

    def on_restart(self, subject: Subject, _: Any) -> Change:
        return show(**self._draw(subject, self._key(subject), 0))

    def loop(self, subject: Subject, key: Key | None = None) -> Loop:
        """The training of these examples and settings. Raises InputError."""
        key = key or self._key(subject)
        return _loops.get(key, lambda: Loop(subject.model, *key[1:]))

    def _key(self, subject: Subject) -> Key:
        return subject.model_name, self.labelled(), loop_plan(self.plan(subject.model)), self.cut_at

    def _done(self, key: Key) -> int:
        """The number of steps done: none for another model, other examples or settings."""
        return self.at[1] if self.at[0] == str(hash(key)) else 0

    def _draw(self, subject: Subject, key: Key, done: int) -> Content:
        loop = self.loop(subject, key)
        done = min(done, loop.total)
        step = loop.step(min(done, loop.total - 1))
        return {
            "at": (str(hash(key)), done),
            "about": _about(loop, done, step),
            "tokens": _grid(subject, loop, step, self.cut_at if self.padding == "max_length" else 0),
            "vectors": _vectors(loop, step),
            "answers": _answers(loop, step),
            "update": _update(loop, min(done, loop.total - 1), step),
            "history": _history(loop, done),
            "script": PROGRAM.write(self, subject) or None,
        }


def _about(loop: Loop, done: int, step: Step) -> str:
    last, epochs = loop.total, loop.plan.settings.epochs
    drawn = f" A random sample of {MOST_TEXTS} examples." if len(loop.examples) == MOST_TEXTS else ""
    cut = f" {loop.cut} texts are cut at the maximum length." if loop.cut else ""
    if done == last:
        return f"All {last} steps of {epochs} epochs are done; the last batch is below.{drawn}{cut}"
    sizes = f"{len(loop.split.train)} texts to train on, {len(loop.split.held_out)} held out"
    where = f"Next: step {done + 1} of {last}, in epoch {step.epoch} of {epochs}."
    return f"{where} There are {sizes}, and {BATCH} in a batch.{drawn}{cut}"


def _texts(loop: Loop, step: Step) -> list[str]:
    """The texts of a batch with their numbers, short enough for a phone."""
    pairs = [in_one_line(loop.examples.pairs[one]) for one in step.rows]
    return [f"{number}  {shorten(text, SHOWN)}" for number, text in enumerate(pairs, start=1)]


def _grid(subject: Subject, loop: Loop, step: Step, least: int) -> dict[str, Any]:
    """The ids and the mask of a batch, padded to its longest text and to `least` tokens."""
    rows = [loop.encoded[one][0] for one in step.rows]
    width = max(least, *map(len, rows))
    mask = np.array([[place < len(ids) for place in range(width)] for ids in rows])
    pad = int(subject.model.tokenizer.pad_token_id or 0)
    padded = np.array([[*ids, *[pad] * (width - len(ids))] for ids in rows])
    return batch_grid([subject.model.pieces(ids) for ids in padded.tolist()], padded, mask, mark=False)


def _vectors(loop: Loop, step: Step) -> dict[str, Any]:
    columns = [Column("text", "name"), Column("vector", "strip"), *number_columns()]
    given = zip(_texts(loop, step), step.vectors, strict=True)
    rows = [Row([text, vector, *map(float, vector[:FIRST_NUMBERS])]) for text, vector in given]
    return strip_table(columns, rows, "the vectors that the head reads")


def _answers(loop: Loop, step: Step) -> dict[str, Any]:
    """Logits, probabilities and loss of each text; the last row has the loss of the batch."""
    classes, right = loop.examples.classes, loop.examples.targets[step.rows]
    shares = scipy.special.softmax(step.logits, axis=1)
    all_of_them = len(classes) <= MOST_CLASSES
    named = classes if all_of_them else ["the right class"]
    columns = [
        Column("text", "name"),
        Column("right class", "text"),
        *(Column(f"logit {one}", "number", form="+.3f") for one in named),
        *(Column(f"p {one}", "number", form=".3f") for one in named),
        Column("loss", "number", form=".4f"),
    ]
    rows = []
    for place, text in enumerate(_texts(loop, step)):
        seen = slice(None) if all_of_them else slice(right[place], right[place] + 1)
        numbers = [*step.logits[place, seen].tolist(), *shares[place, seen].tolist(), float(step.losses[place])]
        rows.append(Row([text, classes[right[place]], *numbers]))
    rows.append(Row(["their mean", "", *[None] * (2 * len(named)), step.loss], strong=True))
    return strip_table(columns, rows, "logits, probabilities and losses")


def _update(loop: Loop, number: int, step: Step) -> dict[str, Any]:
    warm_up = max(1, round(0.1 * loop.total))
    phase = f"warm-up, step {number + 1} of {warm_up}" if number < warm_up else "falling to 0 after the warm-up"
    rows = [
        ("gradient of the head, length", f"{step.gradient:.4f}"),
        ("AdamW's rate for the head", f"{step.rate:.3g} of {loop.rate:g} ({phase})"),
        ("change of the head's weights, length", f"{step.moved:.4f}"),
    ]
    if loop.plan.layers_trained:
        rows.append(("gradient of the layers, length, at most 1 by clipping", f"{step.below:.4f}"))
        rows.append(("AdamW's rate for the layers", f"{step.layer_rate:.3g} of {loop.layer_rate:.3g}"))
    return facts(["the step on this batch", ""], rows)


def _history(loop: Loop, done: int) -> dict[str, Any] | None:
    rows = [
        Row([str(one.epoch), one.trained["loss"], one.held_out["loss"], one.held_out["accuracy"]]) for one in loop.epochs(done)
    ]
    return strip_table(EPOCHS, rows[::-1], "the epochs, the last one first") if rows else None


def _values(view: LoopView, subject: Subject) -> Values:
    """What the program is filled in with; None where it would read the texts in another way."""
    try:
        loop = view.loop(subject)
    except InputError:  # an error of the examples or settings, which the view reports
        return None
    plan, examples = loop.plan, loop.examples
    if loop.cut and examples.texts_b:  # transformers shortens the longer text of a pair
        return None
    return {
        "texts": as_typed(subject, *examples.texts),
        "seconds": as_typed(subject, *examples.texts_b) if examples.texts_b else None,
        "labels": list(examples.labels),
        "classes": examples.classes,
        "held_out": loop.split.held_out.tolist(),
        "cut_at": view.cut_at,
        "padding": view.padding,
        "batch": BATCH,
        "epochs": plan.settings.epochs,
        "seed": plan.settings.seed,
        "layer": plan.layer,
        "trained": plan.layers_trained,
        "pooling": plan.pooling,
        "rate": loop.rate,
        "layer_rate": loop.layer_rate,
    }


PROGRAM = program("loop", *LoopView.settings, values=_values)
