"""The tab Fine-tune: training BERT on examples, with every result open to inspection."""

from explorer.finetune.answer_examples import AnswerExamples
from explorer.finetune.answer_result import AnswerResult
from explorer.finetune.answer_try import AnswerTry
from explorer.finetune.examples import ExamplesView
from explorer.finetune.known_tasks import ANSWERS, TEXTS, WORDS, KnownTasks
from explorer.finetune.loop import PROGRAM, LoopView
from explorer.finetune.outcome import AnswerBaselines, AnswerOutcome, Baselines, Outcome, WordBaselines, WordOutcome
from explorer.finetune.over_examples import Probe
from explorer.finetune.recipe import AnswerRecipe, Recipe, WordRecipe
from explorer.finetune.result import Result
from explorer.finetune.runs import AnswerRuns, Runs, WordRuns
from explorer.finetune.try_it import TryIt
from explorer.finetune.words_examples import WordExamples
from explorer.finetune.words_result import WordResult
from explorer.finetune.words_try import WordTry
from explorer.ui.tabs import Tab

TAB = Tab(
    "fine-tune",
    "Fine-tune",
    "What can BERT learn from a few examples?",
    {
        TEXTS: [[(ExamplesView, Recipe, Outcome), TryIt], *([view] for view in (Result, Baselines, LoopView, Probe, Runs))],
        WORDS: [[WordExamples, (WordRecipe, WordOutcome, WordBaselines)], *([view] for view in (WordTry, WordResult, WordRuns))],
        ANSWERS: [
            [AnswerExamples, (AnswerRecipe, AnswerOutcome, AnswerTry)],
            *([view] for view in (AnswerResult, AnswerBaselines, AnswerRuns)),
        ],
    },
    reads_texts=False,
    above=[KnownTasks],
    programs={"fine-tune/loop": PROGRAM},
    more="More: settings, what the result is worth, my runs",
)
