"""The training loop, one batch at a time, and the program that repeats it."""

import contextlib
import io
from dataclasses import replace

import numpy as np
import pytest

from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.export import code, ways
from explorer.export.place import Place
from explorer.finetune.examples import ExamplesView
from explorer.finetune.loop import LoopView, place_of
from explorer.finetune.recipe import OWN, SIDE_BY_SIDE
from explorer.training.settings import LEAST


def run(view, subject):
    """The losses that the program of a view prints and keeps: of each step, and the lines of the epochs."""
    found, printed = {}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code.of(view, subject), "program", "exec"), found)
    return found["losses"], [[float(number) for number in line.split(", ")] for line in printed.getvalue().splitlines()[1:]]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"pooling": "pooler", "cut_at": 6, "seed": 3, "padding": "max_length"},
        {"layers": 1, "layer": 2, "pooling": "cls", "preset": OWN, "epochs": 2, "rate": 1e-5},
    ],
)
def test_the_program_reaches_the_losses_of_the_loop(subject, given):
    view = LoopView(**given)
    loop = view.loop(subject)
    losses, epochs = run(view, subject)
    assert len(losses) == loop.total
    apart = np.abs(np.array(losses) - [loop.step(number).loss for number in range(loop.total)])
    assert apart[:3].max() < 1e-5
    assert apart.max() < (1e-3 if "layers" in given else 1e-5), "a layer's rounding grows with every step that it learns"
    told = [(one.epoch, one.trained["loss"], one.held_out["loss"], one.held_out["accuracy"]) for one in loop.epochs(loop.total)]
    assert np.abs(np.array(epochs) - told).max() < (2e-3 if "layers" in given else 1e-4)
    assert losses[0] == pytest.approx(np.log(3), abs=1e-5), "the head starts at zero"
    assert losses[-1] < losses[0]


def test_a_batch_is_shown_as_it_is_read(subject):
    view = LoopView()
    content, loop = view.compute(subject), view.loop(subject)
    step, (ids, _) = loop.step(0), zip(*loop.encoded, strict=True)
    longest = max(len(ids[row]) for row in step.rows)
    assert len(content["tokens"]["columns"]) == longest
    assert len(LoopView(padding="max_length", cut_at=20).compute(subject)["tokens"]["columns"]) == 20
    assert len(content["tokens"]["rows"]) == 3 * len(step.rows)
    assert set(step.rows) <= set(loop.split.train)
    assert [row["cells"][-1] for row in content["answers"]["rows"]][-1] == f"{step.loss:.4f}"
    assert step.loss == pytest.approx(step.losses.mean())
    assert step.rate == pytest.approx(loop.rate / max(1, round(0.1 * loop.total))), "the first step of the warm-up"
    assert content["history"] is None


def test_steps_and_epochs_belong_to_the_page(subject, bundled):
    view = LoopView()
    before = {name: weight.clone() for name, weight in bundled.module.state_dict().items()}
    one = view.on_step(subject, None).content
    assert one["at"][1] == 1
    two = finished(replace(view, at=one["at"]).on_epoch(subject, None)).content
    loop = view.loop(subject)
    assert two["at"][1] == loop.per_epoch
    assert [row["cells"][0] for row in two["history"]["rows"]] == ["1"]
    assert view.compute(subject)["at"][1] == 0, "another page is where it was"
    assert replace(view, at=one["at"], seed=1).compute(subject)["at"][1] == 0, "other settings begin again"
    end = replace(view, at=(one["at"][0], loop.total - 1))
    done = finished(end.on_epoch(subject, None)).content
    assert done["at"][1] == loop.total
    assert len(done["history"]["rows"]) == LEAST[False][0]
    assert replace(view, at=done["at"]).on_step(subject, None).content["at"] == done["at"]
    assert view.on_restart(subject, None).content["at"][1] == 0
    assert all(weight.equal(before[name]) for name, weight in bundled.module.state_dict().items())


def test_the_program_goes_into_the_file_of_the_tab(subject):
    place = Place(subject, "fine-tune", "Train", (ExamplesView(), LoopView()))
    assert "torch.optim.AdamW(" in ways.python(place).decode()
    with pytest.raises(InputError, match="save the run as a zip"):
        ways.python(Place(subject, "fine-tune", "Train", (LoopView(source="Built in", ready="similarity"),)))


def test_what_the_loop_cannot_learn_is_said(subject):
    with pytest.raises(InputError, match="one vector per text"):
        LoopView(pooling=SIDE_BY_SIDE[1]).compute(subject)
    with pytest.raises(InputError, match="learn labels of texts or pairs"):
        LoopView(source="Built in", ready="similarity").compute(subject)
    assert place_of(["x", True]) == place_of([1, 2]) == place_of("ab") == ("", 0)
