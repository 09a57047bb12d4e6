"""The questions and answers to learn from: built in, typed, or a file of SQuAD."""

import re
from collections import Counter

from explorer.bert.explorer import Explorer
from explorer.core.errors import InputError
from explorer.core.limits import BOX_CHARACTERS, TABLE_MEGABYTES
from explorer.finetune.compute.questions import FILE_TYPES, QuestionFile, Questions, built_in, read_questions, read_typed
from explorer.finetune.compute.span_task import Answering, room
from explorer.finetune.compute.task import Task, TrainingPlan
from explorer.finetune.example_settings import FILE, READY, TYPED
from explorer.ui.pictures.bars import bars
from explorer.ui.settings import choice, switch, text, upload
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, View, part, props, sentence

STARTER = """Nora keeps two parrots in her kitchen. The green one can say good morning.
Who keeps parrots? | Nora
Where does Nora keep parrots? | in her kitchen
What colour are her curtains? |

Emil waters the roses at seven. He carries the water in an old bucket.
Who waters the roses? | Emil
When does Emil water the roses? | at seven
What does he carry the water in? | an old bucket

The market opens on Friday. Ida sells cheese under a blue umbrella.
When does the market open? | on Friday
Who sells cheese? | Ida
How much does the cheese cost? |"""
ASKS = ("who", "what", "when", "where", "why", "which", "how many", "how much", "how long", "how")
OTHER = "another word"
MOST_BARS = 8
CHARACTERS_A_TOKEN = 4  # in English, about
FEW = 100  # questions; hardly any kind of question is learnt from fewer


def asks(question: str) -> str:
    """The question word, one of ASKS or OTHER."""
    return next((word for word in sorted(ASKS, key=len, reverse=True) if re.search(rf"\b{word}\b", question.lower())), OTHER)


class AnswerExamples(View):
    """The questions to learn from, and their question words."""

    name, question = "fine-tune/answer-examples", "What is there to learn from?"
    width = 5
    asked_from: str = choice((READY, TYPED, FILE), "Questions and answers", menu=True, elem_classes="inline")
    asked_lines: str = text(
        STARTER,
        "A text; below it a question a line, its answer after | (nothing for no answer)",
        limit=BOX_CHARACTERS,
        visible=False,
        lines=10,
        max_lines=16,
        when=lambda view: view.asked_from == TYPED,
    )
    asked_beside: bool = switch(
        True,
        "Learn from the built-in questions too: a handful teaches little by itself",
        visible=False,
        when=lambda view: view.asked_from == TYPED,
    )
    asked_file: QuestionFile | None = upload(
        label=f"SQuAD 1.1 or 2.0 as JSON, or a line a question, up to {TABLE_MEGABYTES.most} MB",
        types=FILE_TYPES,
        read=read_questions,
        height=110,
        visible=False,
        when=lambda view: view.asked_from == FILE,
    )
    about = sentence(classes="caption")
    balance = part("bars")

    def examples(self) -> tuple[Questions, str]:
        """The questions, and a note about them. Raises InputError."""
        if self.asked_from == READY:
            return built_in(), ""
        if self.asked_from == TYPED:
            typed = read_typed(self.asked_lines)
            return (Questions(built_in().rows + typed.rows), f"{len(typed)} are yours.") if self.asked_beside else (typed, "")
        if self.asked_file is None:
            raise InputError("Choose a JSON file of questions, as SQuAD has them.")
        return self.asked_file.questions, self.asked_file.about

    def title(self, examples: Questions) -> str:
        return {READY: "Answers", TYPED: "Answers, typed"}.get(self.asked_from, "Answers, a file")

    def task(self, model: Explorer, examples: Questions, plan: TrainingPlan) -> Task:
        return Answering(model, examples, plan)

    def compute(self, subject: Subject) -> Content:
        try:
            questions, note = self.examples()
        except InputError as error:
            return {"about": str(error), "balance": None}
        counted = Counter(asks(row.question) for row in questions.rows).most_common(MOST_BARS)
        characters = sum(len(question) + len(about) for question, about in questions.pairs)
        share = room(subject.model.capabilities.hidden_size) * CHARACTERS_A_TOKEN / characters
        if share < 1:
            note += f" About {share:.0%} of them fit into memory, and are learnt from."
        few = "; the ways of asking are hardly learnt from so few" if len(questions) < FEW else ""
        return {
            "about": (
                f"{len(questions):,} questions on {len(questions.texts):,} texts, {questions.unanswered:,} of them without an "
                f"answer there; all questions on about a fifth of the texts are held out, and never trained on{few}. {note}"
            ),
            "balance": bars([(word, count / len(questions), f"{count:,}") for word, count in counted]),
        }

    def on_asked_from(self, subject: Subject, source: str) -> Change:
        """Questions from another source: the previous file is removed."""
        return Change(settings={"asked_file": None}, content={"asked_file": props(value=None)})
