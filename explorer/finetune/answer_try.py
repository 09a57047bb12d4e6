"""Ask a question about your own text: the answer, and the heads that attend to it."""

from typing import Any

from explorer.bert.explorer import load
from explorer.core.cache import OnceCache
from explorer.finetune.compute.answering import Answer, Answerer
from explorer.finetune.compute.predictor import of_kind
from explorer.finetune.compute.run import Run
from explorer.finetune.pictures.results import looks_at_answer, passage
from explorer.finetune.run import OfAnswers, RunView
from explorer.text.characters import has_visible_characters
from explorer.ui.layout import row
from explorer.ui.pictures.bars import percent
from explorer.ui.pictures.numbers import columns_of, keep
from explorer.ui.pictures.word_grid import word_grid
from explorer.ui.settings import choice, text
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, chart, part, sentence, settle

TEXT = (
    "Rita sells ice cream in the park from May to October. Her cart is pink and has three wheels. "
    "On Sundays her uncle helps her because many families come."
)
STORY = (
    "The night train from Hamburg stopped in a forest at two in the morning. A moose stood on the rails. "
    "The driver, Mr Holm, waited for half an hour until it walked away."
)
SAMPLES = (
    ("Where does Rita sell ice cream?", TEXT),
    ("Who helps Rita on Sundays?", TEXT),
    ("How many wheels does the cart have?", TEXT),
    ("How much does the ice cream cost?", TEXT),
    ("When did the train stop in a forest?", STORY),
    ("What stood on the rails?", STORY),
)
_answers: OnceCache[Any, tuple[Answer, Any]] = OnceCache(64)


class AnswerTry(OfAnswers, RunView):
    """A question on a text: the answer, the probability of each token to begin and end it, and the heads that attend to it."""

    name, question = "fine-tune/answer-try", "What does it find in a text of your own?"
    asked: str = text(SAMPLES[0][0], "Ask a question")
    asked_sample: str = choice(
        [(question, place) for place, (question, _) in enumerate(SAMPLES)],
        "or one of these",
        default=0,
        menu=True,
        linked=False,
        min_width=120,
    )
    asked_text: str = text(TEXT, "of a text", lines=3, max_lines=8)
    layout = (row("asked", "asked_sample"),)
    found = part("passage", optional=True, answer=True)
    verdict = sentence(keep_height=True, answer=True)
    row = part("words", optional=True, answer=True)
    looks = chart("How much each head looks from the question at the answer", height=250, optional=True, answer=True)
    note = sentence(classes="caption", answer=True)

    def without_run(self, why: str) -> Content:
        return {"verdict": "When you press Train and it has learnt, the answer is marked in this text.", "note": ""}

    def show_run(self, subject: Subject, run: Run) -> Content:
        if not (has_visible_characters(self.asked) and has_visible_characters(self.asked_text)):
            return {"verdict": "Type a question and a text.", "note": ""}
        found, looks = self._ask(run)
        layer, head = divmod(int(looks.argmax()), looks.shape[1])
        start, end = found.span
        even = (end - start + 1) / found.window.encoding.kept
        return {
            "found": passage(self.asked_text, found.start, found.end),
            "verdict": _verdict(found),
            "row": _boundaries(found),
            "looks": looks_at_answer(looks, even),
            "note": (
                "The table: how likely each token of the text begins and ends the answer, and [CLS] that there is none. The "
                "picture: how much of its attention each head of the trained model gives from the question to "
                f"{'the answer' if found.text else 'the best span'}; layer {layer + 1}, head {head + 1} gives most, "
                f"{looks.max():.0%}, spread evenly it would be {even:.0%}. {_part(found, self.asked_text)}"
            ),
        }

    def on_asked_sample(self, subject: Subject, sample: int) -> Change:
        question, about = SAMPLES[sample]
        return settle(asked=question, asked_text=about)

    def _ask(self, run: Run) -> tuple[Answer, Any]:
        def answer() -> tuple[Answer, Any]:
            model, answerer = load(run.predictor.model), of_kind(run.predictor, Answerer)
            found = answerer.answer(model, self.asked, self.asked_text)
            return found, answerer.looks(model, found)

        return _answers.get((run.id, self.asked, self.asked_text), answer)


def _verdict(found: Answer) -> str:
    """The answer and its probability, in a sentence."""
    if found.text:
        return f"“{found.text}”, with {percent(found.score)}; that there is no answer, {percent(found.no_answer)}."
    return f"No answer, with {percent(found.no_answer)}; the best span has {percent(found.score)}."


def _boundaries(found: Answer) -> dict[str, Any]:
    """Below each token of the text, and [CLS] for no answer, the probability that it begins and ends the answer."""
    encoding = found.window.encoding
    places = [0, *(token for token in found.window.text_tokens if token < len(found.shares))]
    tokens = [encoding.tokens[token] for token in places]
    shares = found.shares[places]
    cells = [[(percent(float(share)), float(share), "") for share in shares[:, side]] for side in range(2)]
    outlined = (0, places.index(found.span[0] if found.text else 0))
    row = word_grid("token", tokens, ["begins", "ends"], cells, outlined=outlined)
    return keep(row, lambda: columns_of(position=places, token=tokens, begins=shares[:, 0], ends=shares[:, 1]))


def _part(found: Answer, text: str) -> str:
    """The part of a long text that was read, '' if it is all of it."""
    begin, end = found.window.begin, found.window.begin + len(found.window.pair[1])
    return (
        f"The text was read in windows; this is that of characters {begin + 1:,} to {end:,}." if end - begin < len(text) else ""
    )
