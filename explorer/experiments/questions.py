"""What the page says of each question of an experiment: its menu line, its button, how to read it, and its finding."""

from collections.abc import Callable
from dataclasses import dataclass

from explorer.experiments.compute.experiment import Experiment
from explorer.experiments.compute.origins import STEPS
from explorer.experiments.compute.patching import PAIRS
from explorer.experiments.compute.summary import HeldOut
from explorer.experiments.naming import interval_of, of_items, place_name, plain
from explorer.ui.pictures.bars import signed

TESTS = (
    " Items of one group are similar, so all inference is by group. Intervals: 95%, studentized bootstrap over groups. q: the "
    "larger p value of a sign-flip test and that bootstrap, corrected for all places (Benjamini & Hochberg 1995). Half of the "
    "groups select a place, and the other half test it."
)
MARKED = "An item needs a marked word, as in *The \\*keys\\* to the drawers*. "


@dataclass(frozen=True)
class Telling:
    """How a question is shown. `each` are the titles in the list of items: `before` ("" for none), and the value at a place.

    `beside` is what the selected place is judged by: each value's null, if it has one, which `null` may name more exactly.
    """

    menu: str
    unit: str
    beside: str
    each: tuple[str, str]
    help: str
    tell: Callable[[Experiment], str]
    null: str = ""
    is_share: bool = False  # whether no value is below 0
    adds_before: bool = False  # whether the value in the list is `before` plus what was measured
    helps_below: bool = False  # whether a value below 0 says that the place helps the word


def between(held: HeldOut, written: Callable[[float], str] = plain) -> str:
    """Where the mean on the other half lies, in a sentence."""
    return interval_of(held.low, held.high, held.groups, written)


def doubt(held: HeldOut) -> str:
    """What a sentence adds where the other half does not rule out 0, by its interval and its test."""
    return "" if held.is_sure else ", which is not certain"


def percent(held: HeldOut) -> str:
    """A share on the other half, with its interval."""
    ends = interval_of(100 * held.low, 100 * held.high, held.groups, lambda end: f"{end:.0f}%")
    return f"{100 * held.effect:.0f}% ({ends})"


def null_of(found: Experiment) -> str:
    """What a run's chosen place is judged by, in words."""
    telling = TELLINGS[found.question.name]
    return telling.null if telling.null and found.nulls is not None else telling.beside


def selected(found: Experiment) -> str:
    """The selected place, as a sentence begins."""
    name = place_name(found.axes, found.summary.selected)
    return name[:1].upper() + name[1:]


def chosen_on(found: Experiment) -> str:
    """How many items the place was selected on."""
    return of_items(len(found.items) - found.summary.held_out.items)


def _heads(found: Experiment) -> str:
    held = found.summary.held_out
    told = (
        f"{selected(found)}, selected on {chosen_on(found)}, changes the logit difference of the other {held.items} by "
        f"{signed(held.effect)} of {plain(found.held_out_before)} ({between(held, signed)})."
    )
    return told if held.is_sure else f"No head decides for certain: {told[0].lower()}{told[1:]}"


def _patching(found: Experiment) -> str:
    held = found.summary.held_out
    beside = "a random place" if found.nulls is None else "for other pairs of words"
    return (
        f"{selected(found)}, selected on {chosen_on(found)}, brings back {percent(held)} of the difference in the other "
        f"{held.items}; {beside} {100 * held.random:.0f}%{doubt(held)}."
    )


def _lens(found: Experiment) -> str:
    held, (state,) = found.summary.held_out, found.summary.selected
    return (
        f"From hidden state {state} on the word is ahead of the foil in {chosen_on(found)}; in the other {held.items} it is "
        f"ahead there by {plain(held.effect)} ({between(held)}){doubt(held)}."
    )


def _attention(found: Experiment) -> str:
    held = found.summary.held_out
    return (
        f"{selected(found)}, selected on {chosen_on(found)}, looks there with {percent(held)} of its weight in the other "
        f"{held.items}; with another word in the place of the marked one it is {100 * held.random:.0f}%{doubt(held)}."
    )


def _cut(found: Experiment) -> str:
    held = found.summary.held_out
    return (
        f"{selected(found)}, selected on {chosen_on(found)}: without its link the logit difference of the other {held.items} "
        f"changes by {signed(held.effect)} ({between(held, signed)}){doubt(held)}; without another word's link by "
        f"{signed(held.random)}."
    )


def _routes(found: Experiment) -> str:
    held = found.summary.held_out
    return (
        f"{percent(held)} of the last vector comes from the marked word in {of_items(held.items)}, counted at "
        f"{place_name(found.axes, found.summary.selected)}; from another word, drawn at random, "
        f"{100 * held.random:.0f}%{doubt(held)}."
    )


def _attribution(found: Experiment) -> str:
    held = found.summary.held_out
    return (
        f"{selected(found)}, the best on {chosen_on(found)}, ranks the marked word first in {percent(held)} of the other "
        f"{held.items}; a random word is it in {100 * held.random:.0f}%{doubt(held)}."
    )


def _likelihood(found: Experiment) -> str:
    held = found.summary.held_out
    return (
        f"Counting {place_name(found.axes, found.summary.selected)}, the text with the word is more likely by "
        f"{plain(held.effect)} nats in {of_items(held.items)} ({between(held)}){doubt(held)}."
    )


TELLINGS = {
    "heads_off": Telling(
        "Which heads decide? (heads off)",
        "change of the logit difference",
        "a random head",
        ("all heads", "without {}"),
        "A head is off when its output before W_O is replaced at every token. The effect is the logit difference without the "
        "head minus that with it, as in *Switch heads off*. The head with the lowest mean in one half of the groups is "
        "selected. If one word is right in most items, a head that always prefers it counts too, so balance the items.",
        _heads,
        adds_before=True,
        helps_below=True,
    ),
    "attribution_patching": Telling(
        "What would patching bring back? (estimate)",
        "share recovered",
        "a random place",
        ("changed text", "with {}"),
        "Attribution patching (Nanda 2023; Syed et al. 2023) estimates *patching* for all places at the same time: what an "
        "item's own run has there, less what that of its changed text has, times the gradient of the logit difference in the "
        "run of the changed text. A path of five takes the mean gradient at five inputs between the two (EAP-IG, Hanna et al. "
        "2024), which is closer where softmax saturates. Use it as a first answer, and measure what it finds by *patching*: a "
        "first-order estimate can be wrong. Items need a marked word with a counterpart of as many pieces, as in *The "
        "\\*key/keys\\* to the drawers*.",
        _patching,
        adds_before=True,
    ),
    "patching": Telling(
        "What brings the answer back? (patching)",
        "share recovered",
        "a random place",
        ("changed text", "with {}"),
        "An item needs a marked word with a counterpart of as many pieces, as in *The \\*key/keys\\* to the drawers*: the "
        "changed text has the counterpart. A part of the item's own run is put into that of the changed text, and what comes "
        "back of the logit difference is counted: 0 is the changed text, 1 the item; the mean is the sum of what comes back "
        "over the sum of the whole differences. *Changed words* are the tokens where the texts differ, *token read* is the "
        "blank. It shows where the difference between both texts is carried, and nothing that they have in common (Geiger et "
        "al. 2021; Zhang & Nanda "
        f"2024). The null is the share that the same place brings back of the difference that the texts make to {PAIRS} random "
        "other pairs of words for each item: the test asks whether the place matters more, or less, to this pair than to any. "
        "Next sentences and labels have no other pairs: there the test is of 0, which is wrong in any model for a place that "
        "carries something.",
        _patching,
        null="other pairs of words",
        adds_before=True,
    ),
    "lens": Telling(
        "From which layer on is the word ahead? (lens)",
        "logit difference",
        "the mean of all states",
        ("in the end", "{}"),
        "The masked-LM head reads the hidden state of the blank after every layer, and the logit of the foil is taken from "
        "that of the word: above 0 the word is ahead. The head was trained for the last state; the *tuned* lens first maps "
        "each state to where the head expects it (Belrose et al. 2023). The selected state is the first from which on the mean "
        "stays above 0 in one half of the items.",
        _lens,
    ),
    "attention": Telling(
        "Which head attends to the marked word? (attention)",
        "attention weight",
        "another word",
        ("", "weight in {}"),
        "Mark two words, as in *The \\*keys\\* to the drawers are \\*old\\**, and the first looks at the second; mark one, and "
        "the blank looks at it. Of a word of several pieces, those that look are averaged and those that are looked at are "
        "summed. In the null another word of the same item, drawn at random, takes the place of the marked one; special tokens "
        "and punctuation are left out. Weights say what a head mixes in, not that the answer depends on it.",
        _attention,
        is_share=True,
    ),
    "cut": Telling(
        "Which link does the answer need? (cut links)",
        "change of the logit difference",
        "another word's link",
        ("all links", "without it in {}"),
        MARKED
        + "The weight with which the blank looks at it is set to zero in one head at a time, for all pieces of the word, and "
        "the rest of the row stays, as in *Overview*. With two marked words it is the weight from the first to the second. Blue: "
        "the link helps the word. The null cuts another link of the same head, in which a random word takes the place of the "
        "marked one.",
        _cut,
        adds_before=True,
        helps_below=True,
    ),
    "routes": Telling(
        "How much comes from the marked word? (routes)",
        "share",
        "another word",
        ("logit difference", "share at {}"),
        MARKED
        + "The routes (ALTI, Ferrando et al. 2022) say which share of the last vector of the blank comes from each token of "
        "a hidden state, as in *Overview*; of a word of several pieces it is the sum. The null is the share of another word of "
        "the same item, drawn at random. A share says what is mixed in, not what it does to the answer.",
        _routes,
        is_share=True,
    ),
    "attribution": Telling(
        "Which method finds the word that decides? (attribution)",
        "share of items",
        "a random word",
        ("logit difference", "first"),
        MARKED
        + "In how many items does the marked word, the one that decides by the grammar, get the highest score of all words? "
        "The scores are those of *Attribution*, summed over the pieces of a word (occlusion hides them together), with "
        f"{STEPS} steps of integrated gradients. The null is what a random word would find.",
        _attribution,
        is_share=True,
    ),
    "likelihood": Telling(
        "Which text is more likely? (likelihood)",
        "log-likelihood difference (nats)",
        "the mean of the three",
        ("the blank", "{}"),
        "Both texts, with the word and with the foil in the blank, are read piece by piece, and the logarithms of the "
        "probabilities are summed. Each piece is hidden with the later pieces of its word (Kauf & Ivanova 2023); hidden alone "
        "(Salazar et al. 2020), rare words of many pieces look too probable. Above 0 the text with the word is more likely. *The "
        "other pieces* leaves out the blank, as Nangia et al. 2020 do, so that the frequency of the two words does not count.",
        _likelihood,
    ),
}
"""By the name of the question."""
