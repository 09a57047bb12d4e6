"""Fine-tune: teach BERT to tell classes apart, with its insides open."""

from explorer.views.finetune.examples import ExamplesView
from explorer.views.finetune.known_tasks import KnownTasks
from explorer.views.finetune.outcome import Baselines, Outcome
from explorer.views.finetune.probe import Probe
from explorer.views.finetune.recipe import Recipe
from explorer.views.finetune.result import Result
from explorer.views.finetune.runs import Runs, WordRuns
from explorer.views.finetune.try_it import TryIt
from explorer.views.finetune.words_examples import WordExamples
from explorer.views.finetune.words_probe import WordProbe
from explorer.views.finetune.words_recipe import WordRecipe
from explorer.views.finetune.words_result import WordResult
from explorer.views.finetune.words_run import WordBaselines, WordOutcome
from explorer.views.finetune.words_try import WordTry
from explorer.views.view import Tab

TAB = Tab(
    "fine-tune",
    "Fine-tune",
    "What can BERT learn from a few examples?",
    {
        "A text or a pair": [[ExamplesView, (Recipe, Outcome, TryIt)], [Result], [Baselines], [Probe], [Runs]],
        "Every word": [
            [(WordExamples, WordRecipe), (WordOutcome, WordBaselines)],
            [WordTry],
            [WordResult],
            [WordProbe, WordRuns],
        ],
    },
    above=[KnownTasks],
)

# What is learnt from, how, and where it shows how it goes: one a kind of task.
TRAININGS = [(ExamplesView, Recipe, Outcome), (WordExamples, WordRecipe, WordOutcome)]
