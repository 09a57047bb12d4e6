"""The tab Fine-tune: training BERT on examples, with every result open to inspection."""

from explorer.views.finetune.answer_examples import AnswerExamples
from explorer.views.finetune.answer_result import AnswerResult
from explorer.views.finetune.answer_run import AnswerBaselines, AnswerOutcome, AnswerRecipe
from explorer.views.finetune.answer_try import AnswerTry
from explorer.views.finetune.curve import LearningCurve
from explorer.views.finetune.examples import ExamplesView
from explorer.views.finetune.grid import GridSearch
from explorer.views.finetune.known_tasks import ANSWERS, TEXTS, WORDS, KnownTasks
from explorer.views.finetune.outcome import Baselines, Outcome
from explorer.views.finetune.probe import Probe
from explorer.views.finetune.recipe import Recipe
from explorer.views.finetune.result import Result
from explorer.views.finetune.runs import AnswerRuns, Runs, WordRuns
from explorer.views.finetune.try_it import TryIt
from explorer.views.finetune.words_examples import WordExamples
from explorer.views.finetune.words_probe import WordProbe
from explorer.views.finetune.words_recipe import WordRecipe
from explorer.views.finetune.words_result import WordResult
from explorer.views.finetune.words_run import WordBaselines, WordOutcome
from explorer.views.finetune.words_try import WordTry
from explorer.views.view import Tab, View

TAB = Tab(
    "fine-tune",
    "Fine-tune",
    "What can BERT learn from a few examples?",
    {
        TEXTS: [
            [ExamplesView, (Recipe, Outcome, TryIt)],
            *([view] for view in (Result, Baselines, Probe, LearningCurve, GridSearch, Runs)),
        ],
        WORDS: [
            [WordExamples, (WordRecipe, WordOutcome, WordBaselines)],
            *([view] for view in (WordTry, WordResult, WordProbe, WordRuns)),
        ],
        ANSWERS: [
            [AnswerExamples, (AnswerRecipe, AnswerOutcome, AnswerTry)],
            *([view] for view in (AnswerResult, AnswerBaselines, AnswerRuns)),
        ],
    },
    above=[KnownTasks],
    more="More: settings, what the result is worth, my runs",
)

# The views of examples, recipe and outcome, for each kind of task.
TRAININGS: list[tuple[type[View], type[View], type[View]]] = [
    (ExamplesView, Recipe, Outcome),
    (WordExamples, WordRecipe, WordOutcome),
    (AnswerExamples, AnswerRecipe, AnswerOutcome),
]
