"""The other questions of an experiment: patching, the lens, and the attention from one marked word to another."""

from explorer.experiments.asking import TESTS, AskingView, between, capital, doubt, percent, plain, results
from explorer.experiments.compute.attention import BACKWARD, FORWARD
from explorer.experiments.compute.experiment import Experiment
from explorer.experiments.compute.patching import HEADS_OF, MLP, PAIRS, RESIDUAL
from explorer.experiments.compute.targets import WORD
from explorer.experiments.naming import of_items, place_name
from explorer.experiments.source import ITEMS, TARGET, WITH_TARGET
from explorer.techniques.tuned_lens import RAW, TUNED
from explorer.ui.settings import choice, use
from explorer.ui.view import caption


class Patched(AskingView):
    """A part of each item's run put into that of its changed text."""

    name, question = "experiments/patching", "What brings the answer back?"
    start = "Patch every item"
    layout = (*WITH_TARGET, results("patched"))
    asks, way_of = "patching", "patched"
    unit, beside = "share recovered", "a random place"
    columns_each, adds_before = ("changed text", "with {}"), True
    patched: str = choice(
        [("the hidden states", RESIDUAL), ("the output of heads", HEADS_OF), ("the feed-forward output", MLP)],
        "Taken over",
        menu=True,
        elem_classes="inline",
    )
    target: str = use(TARGET, WORD)
    help = caption(
        "An item needs a marked word with a counterpart of as many pieces, as in *The \\*key/keys\\* to the drawers*: "
        "the changed text has the counterpart. A part of the item's own run is put into that of the changed text, and "
        "what comes back of the logit difference is counted: 0 is the changed text, 1 the item; the mean is the sum of "
        "what comes back over the sum of the whole differences. *Changed words* are the tokens where the texts differ, "
        "*token read* is the blank. It shows where the difference between both texts is carried, and nothing that they "
        "have in common (Geiger et al. 2021; Zhang & Nanda 2024). The null is the share that the same place brings back of the "
        f"difference that the texts make to {PAIRS} random other pairs of words for each item: the test asks whether the "
        "place matters more, or less, to this pair than to any. Next sentences and labels have no other pairs: there the "
        "test is of 0, which is wrong in any model for a place that carries something." + TESTS
    )

    def null(self, found: Experiment) -> str:
        """Other pairs of words, where there are any."""
        return super().null(found) if found.nulls is None else "other pairs of words"

    def tell(self, found: Experiment) -> str:
        held, name = found.summary.held_out, place_name(found.axes, found.summary.selected)
        beside = "a random place" if found.nulls is None else "for other pairs of words"
        return (
            f"{capital(name)}, selected on {of_items(len(found.items) - held.items)}, brings back {percent(held)} of the "
            f"difference in the other {held.items}; {beside} {100 * held.random:.0f}%{doubt(held)}."
        )


class LensOver(AskingView):
    """The lens at every hidden state of every item."""

    name, question = "experiments/lens", "From which layer on is the word ahead?"
    start = "Read every item through the lens"
    layout = (*ITEMS, results("reading"))
    asks, way_of = "lens", "reading"
    beside = "the mean of all states"
    columns_each = ("in the end", "{}")
    reading: str = choice([("raw", RAW), ("tuned", TUNED)], "Lens", elem_classes="inline")
    help = caption(
        "The masked-LM head reads the hidden state of the blank after every layer, and the logit of the foil is taken "
        "from that of the word: above 0 the word is ahead. The head was trained for the last state; the *tuned* lens "
        "first maps each state to where the head expects it (Belrose et al. 2023). The selected state is the first from "
        "which on the mean stays above 0 in one half of the items." + TESTS
    )

    def tell(self, found: Experiment) -> str:
        held, (state,) = found.summary.held_out, found.summary.selected
        return (
            f"From hidden state {state} on the word is ahead of the foil in {of_items(len(found.items) - held.items)}; in the "
            f"other {held.items} it is ahead there by {plain(held.effect)} ({between(held)}){doubt(held)}."
        )


class AttendsOver(AskingView):
    """The weight from one marked word to another in every head."""

    name, question = "experiments/attention", "Which head looks from one word at another?"
    start = "Look at every item"
    layout = (*ITEMS, results("looks"))
    asks, way_of = "attention", "looks"
    unit, beside = "attention weight", "another word"
    is_share = True
    columns_each = ("", "weight in {}")
    looks: str = choice(
        [("the blank, or the first mark", FORWARD), ("the marked word, or the second mark", BACKWARD)],
        "Who looks",
        menu=True,
        elem_classes="inline",
    )
    help = caption(
        "Mark two words, as in *The \\*keys\\* to the drawers are \\*old\\**, and the first looks at the second; mark "
        "one, and the blank looks at it. Of a word of several pieces, those that look are averaged and those that are "
        "looked at are summed. In the null another word of the same item, drawn at random, takes the place of the marked one; "
        "special tokens and punctuation are left out. Weights say what a head mixes in, not that the answer depends on it."
        + TESTS
    )

    def tell(self, found: Experiment) -> str:
        held, name = found.summary.held_out, place_name(found.axes, found.summary.selected)
        return (
            f"{capital(name)}, selected on {of_items(len(found.items) - held.items)}, looks there with {percent(held)} of its "
            f"weight in the other {held.items}; with another word in the place of the marked one it is "
            f"{100 * held.random:.0f}%{doubt(held)}."
        )
