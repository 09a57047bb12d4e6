"""The texts on the page as a pair: the prediction in both orders, and the tokens and heads on which it depends."""

from collections.abc import Generator, Hashable

from explorer.bert.checkpoints import BUNDLED_FOLDER
from explorer.bert.explorer import NextSentence
from explorer.techniques.targets import Target, is_next_target, own_reading
from explorer.ui.attribution import AttributionView
from explorer.ui.long_view import LongView
from explorer.ui.pictures.bars import bars, whole_percent
from explorer.ui.subject import Subject
from explorer.ui.switch_heads import ABOUT, SwitchHeads
from explorer.ui.view import Content, Finding, View, Why, caption, check, heading, matches, part, prose, sentence

SATURATED = 0.999
HELP = (
    "Output 0 of the head is **IsNext** (B is the sentence after A), output 1 is **NotNext** (B comes from "
    "somewhere else); the two sum to 100 %. If order mattered to BERT, the two sides would differ."
)
SHIFTED = (
    " The bias of IsNext in the bundled model was raised by 1.0 by hand after training, as its card says: it said no too "
    "readily. The order of two pairs by their difference of logits is as trained; where 50 % lies is not."
)
ORDER_HELP = (
    "This model was taught sentence *order*, not next sentences (Lan et al. 2020, section 3.1): output 0 of its head is "
    "**InOrder** (B comes right after A), output 1 is **Swapped** (they are neighbours the other way round); the two sum to "
    "100 %. It never saw strangers: of two sentences that have nothing to do with each other it knows nothing."
)


def no_b(subject: Subject) -> str:
    """Why there is no prediction for a pair; '' if there is one."""
    return "" if subject.text_b.strip() else "Type a second sentence in B to ask whether it follows A."


def _is_next(subject: Subject) -> Target:
    return is_next_target(subject.trace)


class ThisPair(View):
    """The prediction of the next-sentence head for B after A."""

    name, question = "next-sentence/pair", "Does B follow A?"
    title = heading("**B after A**")
    verdict = part("bars", answer=True)
    logits = sentence(answer=True)
    saturated = sentence(answer=True)
    help = prose(classes="caption")
    unless = staticmethod(no_b)

    def compute(self, subject: Subject) -> Content:
        """Probabilities and logits."""
        names, answer = subject.model.pair_names, subject.model.next_sentence(subject.text_a, subject.text_b)
        return {
            "verdict": _bars(answer, names, "B", "A"),
            "logits": _logits(answer, names),
            "saturated": _saturation(answer),
            "help": _help(subject),
        }

    def finding(self, subject: Subject) -> Finding:
        """The confidence of the prediction, and that for the swapped pair, if known."""
        answer, known = subject.model.next_sentence(subject.text_a, subject.text_b), SwappedPair().known(subject)
        follows = "follows A" if answer.is_next >= 0.5 else "does not follow A"
        sure = whole_percent(max(answer.is_next, answer.not_next))
        swapped = f"; swapped, A follows B with {whole_percent(known[0].is_next)}" if known else ""
        return Finding(f"B {follows}, says BERT with {sure}{swapped}.", Why("next-sentence", "Which tokens"))


def _help(subject: Subject) -> str:
    if subject.model.family.pair_order:
        return ORDER_HELP
    return HELP + SHIFTED * (subject.model.checkpoint.folder == BUNDLED_FOLDER)


class SwappedPair(LongView):
    """The prediction for A after B, and a check of that for B after A against transformers: one pass each."""

    name, question = "next-sentence/swapped", "And does A follow B?"
    start = "Swap them, and check"
    title = heading("**Swapped: A after B**")
    swapped = part("bars", answer=True)
    logits = sentence(answer=True)
    check = check()
    unless = staticmethod(no_b)

    def passes(self, subject: Subject) -> float:
        """Two passes."""
        return 2

    def key(self, subject: Subject) -> Hashable:
        """The cache key, which does not depend on the selection."""
        return self.name, subject.model_name, subject.text_a, subject.text_b

    def work(self, subject: Subject) -> Generator[float, None, tuple[NextSentence, float]]:
        """The prediction for the swapped pair, and the difference of the pair's logit from the model's own forward pass."""
        swapped = subject.model.next_sentence(subject.text_b, subject.text_a)
        yield 0.5
        ours = subject.model.next_sentence(subject.text_a, subject.text_b).logits[0]
        return swapped, abs(float(own_reading(subject.trace, is_next_target(subject.trace)).logit) - ours)

    def waiting(self, subject: Subject) -> Content:
        """Nothing yet."""
        return super().waiting(subject) | {"swapped": None}

    def draw(self, subject: Subject, found: tuple[NextSentence, float]) -> Content:
        """Probabilities, logits, and the check."""
        (swapped, error), names = found, subject.model.pair_names
        return {
            "swapped": _bars(swapped, names, "A", "B"),
            "logits": _logits(swapped, names),
            "check": matches(error, f"the logit of {names[0]} for B after A is that of the model's own forward pass"),
        }


class PairAttribution(AttributionView):
    """A score for each token, for IsNext."""

    name = "next-sentence/attribution"
    unless = staticmethod(no_b)
    target = staticmethod(_is_next)


class PairHeads(SwitchHeads):
    """A switch for each head, with its effect on IsNext."""

    name = "next-sentence/heads"
    help = caption(ABOUT.format(what="IsNext (or InOrder)"))
    unless = staticmethod(no_b)
    target = staticmethod(_is_next)


def _bars(answer: NextSentence, names: tuple[str, str], second: str, first: str) -> dict:
    stranger = f"{second} is a stranger" if names == ("IsNext", "NotNext") else f"{second} came before {first}"
    return bars([(names[0], answer.is_next, f"{second} follows {first}"), (names[1], answer.not_next, stranger)])


def _logits(answer: NextSentence, names: tuple[str, str]) -> str:
    first, second = answer.logits
    return f"Logits: {names[0]} {first:.2f}, {names[1]} {second:.2f}; difference {first - second:+.2f}."


def _saturation(answer: NextSentence) -> str:
    if max(answer.is_next, answer.not_next) < SATURATED:
        return ""
    return (
        "Saturated: this head is often far surer than it should be, and beyond 99.9 % the probability tells no more; "
        "compare differences of logits instead."
    )
