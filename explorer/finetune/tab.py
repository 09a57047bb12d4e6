"""The tab Fine-tune: training BERT on examples, with every result open to inspection."""

from explorer.finetune.answer_examples import AnswerExamples
from explorer.finetune.answer_result import AnswerResult
from explorer.finetune.answer_run import AnswerBaselines, AnswerOutcome, AnswerRecipe
from explorer.finetune.answer_try import AnswerTry
from explorer.finetune.curve import LearningCurve
from explorer.finetune.examples import ExamplesView
from explorer.finetune.grid import GridSearch
from explorer.finetune.known_tasks import ANSWERS, TEXTS, WORDS, KnownTasks
from explorer.finetune.outcome import Baselines, Outcome
from explorer.finetune.probe import Probe
from explorer.finetune.recipe import Recipe
from explorer.finetune.result import Result
from explorer.finetune.runs import AnswerRuns, Runs, WordRuns
from explorer.finetune.try_it import TryIt
from explorer.finetune.words_examples import WordExamples
from explorer.finetune.words_probe import WordProbe
from explorer.finetune.words_recipe import WordRecipe
from explorer.finetune.words_result import WordResult
from explorer.finetune.words_run import WordBaselines, WordOutcome
from explorer.finetune.words_try import WordTry
from explorer.ui.view import Tab, View

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
