"""Grid search: combinations of settings, tried one after the other on the same examples."""

from collections.abc import Generator, Hashable
from dataclasses import replace
from typing import Any

from explorer.core.steps import map_steps
from explorer.finetune.compute.run import told
from explorer.finetune.compute.searches import GRIDS, Cell, Grid, GridProgress, search
from explorer.finetune.compute.task import Task, make_plan
from explorer.finetune.over_examples import OverExamples
from explorer.finetune.recipe import OWN, Recipe
from explorer.ui.pictures.numbers import columns_of, keep
from explorer.ui.settings import choice, use
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, button, part, sentence, settle

TOP = 2  # layers to train if the recipe trains none
COLUMNS = ("batch", "learning rate", "epochs", "held-out score", "held-out loss")


def _of_recipe(name: str) -> Any:
    """A setting of the recipe, whose control is shown there."""
    return use(replace(Recipe.settings[name], when=None), getattr(Recipe(), name), here=False)


class GridSearch(OverExamples):
    """The held-out score of every combination of batch size, learning rate and number of epochs."""

    name, question = "fine-tune/grid", "Which settings are best?"
    folded = question
    width = 6
    start = "Try them all"
    names = ("grid",)  # the boxes for the examples and the recipe are in other views
    layers: int = _of_recipe("layers")
    preset: str = _of_recipe("preset")
    epochs: int = _of_recipe("epochs")
    rate: float = _of_recipe("rate")
    batch: int = _of_recipe("batch")
    pooling: str = _of_recipe("pooling")
    grid: str = choice([(f"{name} ({len(one.settings())})", name) for name, one in GRIDS.items()], "Settings that are tried")
    about = sentence(keep_height=True)
    tried = part("frame", columns=list(COLUMNS), types=["number"] * len(COLUMNS), max_height=300)
    take = button("Take the best into the recipe", optional=True)

    def asked(self, subject: Subject) -> Hashable:
        """The examples, the grid, and how many layers are trained. Raises InputError."""
        return super().asked(subject), self.grid, self._trained(subject)

    def work(self, subject: Subject) -> Generator[Any, None, tuple[Task, tuple[Cell, ...]]]:
        examples, _ = self.examples()
        trained = self._trained(subject)
        task = self.task(subject.model, examples, make_plan(subject.model, -1, _pooling(trained), trained))
        return task, (yield from map_steps(search(task, self._grid), lambda step: (_doing(step), step.share)))

    def waiting(self, subject: Subject) -> Content:
        return {"about": self._method(subject), "tried": []}

    def draw(self, subject: Subject, found: tuple[Task, tuple[Cell, ...]]) -> Content:
        task, cells = found
        ranked = _ranked(cells)
        best = ranked[0]
        rows = [[cell.batch_size, cell.learning_rate, cell.epochs, round(cell.score, 4), round(cell.loss, 4)] for cell in ranked]
        numbers = {
            name.replace(" ", "_").replace("-", "_"): values
            for name, values in zip(COLUMNS, zip(*rows, strict=True), strict=True)
        }
        setting = f"batch {best.batch_size}, {best.learning_rate:g}, {best.epochs} epochs"
        return {
            "about": f"Best: {setting}, held-out {told(task.predictor.measures[1], best.score)}. {self._method(subject)}",
            "tried": keep(rows, lambda: columns_of(**numbers)),
            "take": "Take the best into the recipe",
        }

    def on_take(self, subject: Subject, _: None) -> Change:
        """Set the recipe to the best settings found, if there are any."""
        found = self.known(subject)
        if found is None:
            return settle()
        best, trained = _ranked(found[1])[0], self._trained(subject)
        numbers = {"epochs": best.epochs, "rate": best.learning_rate, "batch": best.batch_size}
        return settle(preset=OWN, layers=trained, pooling=_pooling(trained), **numbers)

    @property
    def _grid(self) -> Grid:
        return GRIDS[self.grid]

    def _trained(self, subject: Subject) -> int:
        return min(self.layers or TOP, subject.model.capabilities.layers) if self._grid.layers else 0

    def _method(self, subject: Subject) -> str:
        """What is tried, and its source, in a sentence."""
        grid, trained = self._grid, self._trained(subject)
        what = f"the head and {trained} layer{'s' if trained != 1 else ''}" if trained else "the head only"
        tried = f"batch {_listed(grid.batch_sizes)}; {_listed(grid.rates)}; {_listed(grid.epochs)} epochs"
        return f"Of {what}: {tried} ({grid.source}). One split; the last epoch counts."


def _pooling(trained: int) -> str:
    return "cls" if trained else "mean"


def _ranked(cells: tuple[Cell, ...]) -> list[Cell]:
    """Rank the rows, the best first."""
    return sorted(cells, key=lambda cell: (-cell.score, cell.loss))


def _listed(numbers: tuple[float, ...]) -> str:
    return ", ".join(f"{number:g}" for number in numbers)


def _doing(step: GridProgress) -> str:
    best = f" Best so far: {max(cell.score for cell in step.cells):.1%}." if step.cells else ""
    return f"{step.doing}{best}"
