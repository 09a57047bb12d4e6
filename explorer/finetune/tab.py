"""The tab Fine-tune: training BERT on examples, with every result open to inspection."""

from explorer.finetune.examples import ExamplesView
from explorer.finetune.loop import PROGRAM, LoopView
from explorer.finetune.outcome import Outcome
from explorer.finetune.recipe import ANSWERS, KINDS, READY, SMALL_PRESET, WORDS, KnownTasks, Recipe
from explorer.finetune.result import Probe, Result
from explorer.finetune.runs import Runs
from explorer.finetune.try_it import TryIt
from explorer.ui.tabs import Moved, Tab


def _moved(kind: str, **recipe: str) -> Moved:
    """Where a choice of older links went: each kind of task had its own. `recipe` suits the bundled model."""
    return Moved("", "fine-tune", "", {"kind": kind, "source": READY, "ready": KINDS[kind].opening, **recipe})


TAB = Tab(
    "fine-tune",
    "Fine-tune",
    "What can BERT learn from a few examples?",
    {"Train": [[(ExamplesView, Recipe, Outcome), TryIt], *([view] for view in (Result, LoopView, Probe, Runs))]},
    reads_texts=False,
    above=[KnownTasks],
    programs={"fine-tune/loop": PROGRAM},
    more="More: settings, what the result is worth, my runs",
    moved={
        "a-text-or-a-pair": Moved("", "fine-tune"),
        "every-word": _moved(WORDS, layer="4", pooling="first"),
        "an-answer-in-a-text": _moved(ANSWERS, layers="6", preset=SMALL_PRESET, epochs="4", rate="0.0002", batch="16"),
    },
)
