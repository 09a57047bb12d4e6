"""Fine-tune: teach BERT to tell classes apart, with its insides open."""

from explorer.views.finetune.examples import ExamplesView
from explorer.views.finetune.known_tasks import KnownTasks
from explorer.views.finetune.outcome import Baselines, Outcome
from explorer.views.finetune.probe import Probe
from explorer.views.finetune.recipe import Recipe
from explorer.views.finetune.result import Result
from explorer.views.finetune.runs import Runs
from explorer.views.finetune.try_it import TryIt
from explorer.views.view import Tab

TAB = Tab(
    "fine-tune",
    "Fine-tune",
    "What can BERT learn from a few examples?",
    {"A text or a pair": [[(ExamplesView, Recipe, Baselines), (Outcome, TryIt)], [Result], [Probe, Runs]]},
    above=[KnownTasks],
)

TRAININGS = [(ExamplesView, Recipe, Outcome)]  # what is learnt from, how, and where it shows how it goes: one a kind of task
