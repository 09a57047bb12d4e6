"""The tab Fine-tune: training BERT on examples, with every result open to inspection."""

from explorer.finetune.examples import ExamplesView
from explorer.finetune.kinds import ANSWERS, KINDS, TEXTS, WORDS
from explorer.finetune.known_tasks import KnownTasks
from explorer.finetune.loop import PROGRAM, LoopView
from explorer.finetune.outcome import Baselines, Outcome
from explorer.finetune.probe import Probe
from explorer.finetune.recipe import Recipe
from explorer.finetune.result import Result
from explorer.finetune.runs import Runs
from explorer.finetune.try_it import TryIt
from explorer.ui.tabs import Moved, Tab


def _moved(kind: str) -> Moved:
    """Where a choice of older links went: each kind of task had its own."""
    begun = KINDS[kind]
    settings = {} if kind == TEXTS else {"kind": kind, "source": begun.sources[0], "ready": begun.opening}
    return Moved("", "fine-tune", "", settings)


TAB = Tab(
    "fine-tune",
    "Fine-tune",
    "What can BERT learn from a few examples?",
    {"Train": [[(ExamplesView, Recipe, Outcome), TryIt], *([view] for view in (Result, Baselines, LoopView, Probe, Runs))]},
    reads_texts=False,
    above=[KnownTasks],
    programs={"fine-tune/loop": PROGRAM},
    more="More: settings, what the result is worth, my runs",
    moved={"a-text-or-a-pair": _moved(TEXTS), "every-word": _moved(WORDS), "an-answer-in-a-text": _moved(ANSWERS)},
)
