"""The pre-training game as a quiz: guess first, then see what BERT guessed; the score is kept."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import gradio as gr

from explorer.base.errors import InputError
from explorer.page.components import Bars, Notice, TokenRow
from explorer.page.wiring import Page, Updates, View
from explorer.tabs.parts import Part
from explorer.text import limits
from explorer.text.encoding import MASK

if TYPE_CHECKING:
    from explorer.techniques.masking_game import Round

BANK = (
    ("The children ran to the beach and jumped into the water.", "Their mother sat under a tree and read a book."),
    ("She opened the door of the kitchen and turned on the light.", "A black cat was sitting on the table."),
    ("The train was late because of the snow on the line.", "Many people had to wait in the cold station."),
    ("He wrote a long letter to his brother in the army.", "Two weeks later he received an answer."),
    ("The king had three sons and one beautiful daughter.", "The youngest son wanted to see the world."),
    ("The doctor looked at the old man and shook her head.", "She told him to stay in bed for a week."),
    ("Our team won the last game of the season by one goal.", "The fans sang in the streets all night."),
    ("Water freezes at zero degrees and boils at one hundred.", "On a high mountain it boils a little earlier."),
    (
        "The new bridge over the river was opened by the queen.",
        "Thousands of people walked across it on the first day.",
    ),
    ("In the morning the farmer feeds his cows and horses.", "Then he drives to the market to sell milk."),
)
START = {"round": 0, "asked": 0, "you": 0, "bert": 0, "of": 0}
RATE = 0.2
SHOWN = 3
ASKED = "?"


def build(page: Page) -> Part:
    """Make the view."""
    with gr.Column(visible=False) as column:
        state = gr.State(dict(START))
        row = TokenRow(elem_id="quiz-row")
        with gr.Row(elem_classes="overview-detail"):
            with gr.Column(scale=5, min_width=300):
                guess = gr.Textbox("", label="Your guess", elem_id="quiz-guess")
                with gr.Row(elem_classes="controls"):
                    submit = gr.Button("Guess", size="sm", variant="primary", elem_id="quiz-submit")
                    following = gr.Button("Next text", size="sm", elem_id="quiz-next")
                score = Notice(elem_id="quiz-score", keep_height=True)
            with gr.Column(scale=6, min_width=300):
                told = Notice(elem_id="quiz-told", keep_height=True)
                bert = Bars(elem_id="quiz-bert")
        gr.Markdown(
            "The text is not the one above, which you know. Whole words of it are hidden; BERT sees what you see, and "
            "answers after you. Whoever names the hidden piece scores a point. Continuations begin with ##.",
            elem_classes="caption",
        )

    outputs = [state, row, guess, score, told, bert]

    def show(view: View, at: Mapping[str, int]) -> Updates:
        at = _valid(at)
        played = _round(view, at)
        at["asked"] = min(at["asked"], len(played.positions))
        return {state: at, **standing(played, at)}

    def standing(played: "Round", at: dict[str, int], **textbox: str) -> Updates:
        asked = at["asked"]
        done = asked == len(played.positions)
        label = (
            "All blanks are guessed" if done else f"Your guess for the {ASKED} at position {played.positions[asked]}"
        )
        points = f"You {at['you']}, BERT {at['bert']}, of {at['of']} blanks."
        if done:
            points += f" BERT's loss on this text: {played.mlm_loss:.2f} nats a piece."
        return {
            row: _chips(played, asked),
            guess: gr.Textbox(label=label, interactive=not done, **textbox),
            score: points,
        }

    def answer(view: View, typed: str, at: Mapping[str, int]) -> Updates:
        at = _valid(at)
        played = _round(view, at)
        if at["asked"] >= len(played.positions):
            raise InputError("All blanks of this text are guessed; go on to the next one.")
        mine = limits.check_text(typed, "your guess").strip().lower()
        place, position = at["asked"], played.positions[at["asked"]]
        truth, guesses = played.encoding.tokens[position], played.guesses[place].candidates
        right, bert_right = mine in (truth, truth.removeprefix("##")), guesses[0].token == truth
        at |= {"asked": place + 1, "you": at["you"] + right, "bert": at["bert"] + bert_right, "of": at["of"] + 1}
        said = f"It was {truth}. You: {mine[:40]}, {'right' if right else 'wrong'}. BERT: {guesses[0].token}, "
        said += f"{'right' if bert_right else 'wrong'}."
        bars = [(each.token, each.probability, "") for each in guesses[:SHOWN]]
        return {state: at, **standing(played, at, value=""), told: said, bert: Bars.pack(bars)}

    def go_on(view: View, at: Mapping[str, int]) -> Updates:
        at = _valid(at) | {"asked": 0}
        at["round"] += 1
        return {**show(view, at), told: "", bert: None}

    page.on([submit.click, guess.submit], answer, outputs, [guess, state])
    page.on([following.click], go_on, outputs, [state])
    return Part("Quiz", column, show, [state, row, guess, score], [state])


def _valid(at: Mapping[str, int] | None) -> dict[str, int]:
    """The state, whole numbers each."""
    return {key: limits.check_integer((at or START).get(key, 0), "the score", 0, 10**6) for key in START}


def _round(view: View, at: Mapping[str, int]) -> "Round":
    from explorer.techniques.masking_game import Rules, play

    text_a, text_b = BANK[at["round"] % len(BANK)]
    return play(view.model, text_a, text_b, Rules("words", RATE, 1.0, 0.0, at["round"]))


def _chips(played: "Round", asked: int) -> dict:
    """The text with the blanks that are left; the one in question is a question mark."""
    left = set(played.positions[asked:])
    encoding = played.encoding
    tokens = [MASK if position in left else token for position, token in enumerate(encoding.tokens)]
    kinds = replace(encoding, tokens=tuple(tokens)).kinds
    if left:
        tokens[min(left)] = ASKED
    return TokenRow.pack(tokens, kinds=kinds, segments=encoding.segments)
