"""The pre-training game as a quiz: you guess first, then BERT's guess is shown; the score is kept."""

import math
from typing import Any, NamedTuple

from explorer.core.errors import InputError
from explorer.fill_mask.compute.masking_game import Round, Rules
from explorer.fill_mask.rounds import round_of
from explorer.text import limits
from explorer.text.encoding import MASK
from explorer.text.pieces import bare
from explorer.ui.layout import col, row
from explorer.ui.pictures.bars import bars, whole_percent
from explorer.ui.pictures.token_row import token_row
from explorer.ui.settings import memory, text
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, Finding, View, button, caption, part, props, sentence

BANK = (
    ("The children ran to the beach and jumped into the water.", "Their mother sat under a tree and read a book."),
    ("She opened the door of the kitchen and turned on the light.", "A black cat was sitting on the table."),
    ("The train was late because of the snow on the line.", "Many people had to wait in the cold station."),
    ("He wrote a long letter to his brother in the army.", "Two weeks later he received an answer."),
    ("The king had three sons and one beautiful daughter.", "The youngest son wanted to see the world."),
    ("The doctor looked at the old man and shook her head.", "She told him to stay in bed for a week."),
    ("Our team won the last game of the season by one goal.", "The fans sang in the streets all night."),
    ("Water freezes at zero degrees and boils at one hundred.", "On a high mountain it boils a little earlier."),
    ("The new bridge over the river was opened by the queen.", "Thousands of people walked across it on the first day."),
    ("In the morning the farmer feeds his cows and horses.", "Then he drives to the market to sell milk."),
)
RATE = 0.2
SHOWN = 3
ASKED = "?"
MOST = 10**6


class Score(NamedTuple):
    """The number of texts done, of blanks done in this text, and the hits of both players out of all blanks."""

    texts: int = 0
    blanks: int = 0
    you: int = 0
    bert: int = 0
    of: int = 0


def _score(value: Any) -> Score:
    """A valid score, or a new one."""
    fine = isinstance(value, list | tuple) and len(value) == len(Score._fields)
    return Score(*value) if fine and all(type(one) is int and 0 <= one <= MOST for one in value) else Score()


class Quiz(View):
    """A text with blanks that a person fills before BERT does."""

    name, question = "fill-mask/quiz", "Who guesses better, you or BERT?"
    layout = (row(col("guess", "submit", "following", "points", width=5), col("answer", "bert", width=6)),)
    score: Score = memory(Score(), kept=_score)
    row = part("tokens", passive=True)
    guess: str = text("", "Your guess", heard="submit")
    submit = button("Guess", variant="primary")
    following = button("Next text")
    points = sentence(keep_height=True)
    answer = sentence(keep_height=True)
    bert = part("bars")
    help = caption(
        "The text is not the one above, which you know. Whole words of it are hidden; BERT sees what you see, and "
        "answers after you. Whoever names the hidden piece scores a point. Continuations begin with ##."
    )

    def compute(self, subject: Subject) -> Content:
        """The text with the remaining blanks, and the score."""
        played = self._play(subject)
        score = self.score
        points = f"You {score.you}, BERT {score.bert}, of {score.of} blanks."
        if score.blanks >= len(played.positions):
            points += f" BERT's loss on this text: {played.mlm_loss:.2f} nats a piece."
        return {"row": _row(played, score.blanks), "guess": _box(played, score.blanks), "points": points}

    def finding(self, subject: Subject) -> Finding | None:
        """The blank that was hardest for BERT, among those guessed so far."""
        if not self.score.blanks:
            return None
        played = self._play(subject)
        losses = played.losses[: self.score.blanks]
        place = int(losses.argmax())
        truth, best = played.encoding.tokens[played.positions[place]], played.guesses[place].candidates[0].token
        share = whole_percent(math.exp(-float(losses[place])))
        named = f"Of {len(losses)} blanks “{truth}” was the hardest for BERT: it" if len(losses) > 1 else "BERT"
        word = "" if len(losses) > 1 else f" to “{truth}”"
        return Finding(f"{named} gave {share}{word}{'' if best == truth else f', and said “{best}”'}.")

    def on_guess(self, subject: Subject, index: object) -> Change:
        """Take the text typed as the guess for the current blank."""
        played, score = self._play(subject), self.score
        place = score.blanks
        if place >= len(played.positions):
            raise InputError("All blanks of this text are guessed; go on to the next one.")
        searched = subject.model.searched
        mine = searched(limits.check_text(self.guess, "your guess").strip())
        truth, guesses = played.encoding.tokens[played.positions[place]], played.guesses[place].candidates
        right, bert_right = mine in (searched(truth), searched(bare(truth))), guesses[0].token == truth
        after = Score(score.texts, place + 1, score.you + right, score.bert + bert_right, score.of + 1)
        answer = f"It was {truth}. You: {mine[:40]}, {'right' if right else 'wrong'}. BERT: {guesses[0].token}, "
        shown = {
            "guess": props(value="", **_box(played, after.blanks)),
            "answer": answer + f"{'right' if bert_right else 'wrong'}.",
            "bert": bars([(each.token, each.probability, "") for each in guesses[:SHOWN]]),
        }
        return Change(settings={"score": after}, content=shown)

    on_submit = on_guess

    def on_following(self, subject: Subject, index: None) -> Change:
        """Go to the next text; the score stays."""
        after = self.score._replace(texts=self.score.texts + 1, blanks=0)
        return Change(settings={"score": after}, content={"answer": "", "bert": None})

    def _play(self, subject: Subject) -> Round:
        texts = BANK[self.score.texts % len(BANK)]
        return round_of(subject.model, texts, Rules("words", RATE, 1.0, 0.0, self.score.texts))


def _box(played: Round, asked: int) -> props:
    """The box for the guess, labelled for blank number `asked`."""
    if asked >= len(played.positions):
        return props(label="All blanks are guessed", interactive=False)
    return props(label=f"Your guess for the {ASKED} at position {played.positions[asked]}", interactive=True)


def _row(played: Round, asked: int) -> dict[str, Any]:
    """The text with the remaining blanks; the current one is a question mark."""
    left, encoding = played.positions[asked:], played.encoding
    tokens = [MASK if position in left else token for position, token in enumerate(encoding.tokens)]
    kinds = ["mask" if position in left else kind for position, kind in enumerate(encoding.kinds)]
    if left:
        tokens[left[0]] = ASKED
    return token_row(tokens, kinds, encoding.segments)
