"""What the page says of each question of an experiment, one record each: menu, ways, how to read it, and its finding."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

from explorer.experiments.compute.concepts import WORDS
from explorer.experiments.compute.erasing import OTHERS
from explorer.experiments.compute.estimating import EXACT, STRONGEST
from explorer.experiments.compute.experiment import Experiment
from explorer.experiments.compute.origins import STEPS
from explorer.experiments.compute.patching import PAIRS
from explorer.experiments.compute.summary import HeldOut, at_place
from explorer.experiments.naming import interval_of, of_items, place_name, plain
from explorer.ui.pictures.bars import sign

TESTS = (
    " Items of one group are similar, so all inference is by group. Intervals: 95%, studentized bootstrap over groups (Efron & "
    "Tibshirani 1993). q: the larger p value of a sign-flip test and that bootstrap, corrected for all places (Benjamini & "
    "Hochberg 1995). Half of the groups select a place, and the other half test it."
)
MARKED = "An item needs a marked word, as in *The \\*keys\\* to the drawers*. "
COUNTERPART = "Items need a marked word with a counterpart of the same number of pieces, as in *The \\*key/keys\\* to the "
"drawers*."
CONCEPT = (
    "*Number*, *gender* and *tense* are lists of words such as *is/are*, *he/she*, *is/was*; items with other words are left "
    "out. *The words themselves* takes each item's word as its class. What is fitted to one half of the groups is measured in "
    "the other."
)
CONCEPTS = ("number", "gender", "tense", "the words themselves")


@dataclass(frozen=True)
class Telling:
    """How a question is shown. `each` are the titles in the list of items: `before` ("" for none), and the value at a place.

    `finding` is the sentence of the place that one half of the groups selected, with names of `facts`; it has its interval and
    `doubt`. `ways` are the name and label of the setting that says how it is asked, and what its options are called. `beside` is
    what the selected place is judged by: each value's null, if it has one, which `null` may name more exactly.
    """

    menu: str
    unit: str
    beside: str
    each: tuple[str, str]
    help: str
    finding: str
    ways: tuple[str, str, Sequence[str]] | None = None
    null: str = ""
    is_share: bool = False  # whether no value is below 0
    adds_before: bool = False  # whether the value in the list is `before` plus what was measured
    below: str = ""  # what a value below 0 says, "" where larger values are looked for


def facts(found: Experiment) -> dict[str, object]:
    """What a finding may name of the selected place: on the half that it was not selected on, unless it says otherwise.

    `effect`, `size` (without +) and `share` are its mean, `by_effect`, `by_size` and `by_share` the interval, `random` and
    `random_share` what it is judged by; `doubt` is what a sentence adds where interval and test do not rule out 0.
    """
    held, at = found.summary.held_out, found.summary.selected
    place, how = place_name(found.axes, at), found.provenance["how"]

    def within(scale: float, written: object) -> str:
        return interval_of(scale * held.low, scale * held.high, held.groups, written)  # type: ignore[arg-type]

    return {
        "place": place,
        "Place": place[:1].upper() + place[1:],
        "state": at[0],
        "on": of_items(len(found.items) - held.items),
        "other": held.items,
        "items": of_items(held.items),
        "before": plain(found.held_out_before),
        "effect": sign(held.effect),
        "size": plain(held.effect),
        "share": _percent(held.effect),
        "by_effect": within(1, sign),
        "by_size": within(1, plain),
        "by_share": within(100, lambda end: f"{end:.0f}%"),
        "random": sign(held.random),
        "random_share": _percent(held.random),
        "beside": null_of(found) if found.nulls is None else f"for {null_of(found)}",
        "doubt": doubt(held),
        "concept": "the word" if how == WORDS else how,
        "receiver": receiver_of(how),
        "exact": _exact(found),
    }


def tell(found: Experiment) -> str:
    """The finding of a run in a sentence."""
    return TELLINGS[found.question.name].finding.format_map(facts(found))


def doubt(held: HeldOut) -> str:
    """What a sentence adds where the other half does not rule out 0, by its interval and its test."""
    return "" if held.is_sure else ", which is not certain"


def null_of(found: Experiment) -> str:
    """What a run's chosen place is judged by, in words."""
    telling = TELLINGS[found.question.name]
    return telling.null if telling.null and found.nulls is not None else telling.beside


def receiver_of(how: str) -> str:
    """The receiver of a path in words, from its way: 'query 5.11'."""
    part, _, head = how.partition(" ")
    return f"the {part} of head {head}" if head else f"the {'queries' if part == 'query' else f'{part}s'} of later heads"


def _exact(found: Experiment) -> str:
    """What patching itself brings back at the selected place on the other half, where an estimate has it."""
    if EXACT not in found.also or found.sizes is None:
        return ""
    rows = found.held_out_rows
    exact = float(at_place(found.also[EXACT], found.summary.selected)[rows].sum() / found.sizes[rows].sum())
    return "it was not patched" if isnan(exact) else f"patching it brings back {_percent(exact)}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"


TELLINGS = {
    "heads_off": Telling(
        "Which heads decide? (heads off)",
        "change of the logit difference",
        "a random head",
        ("all heads", "without {}"),
        "A head is off when its output before W_O is replaced at every token (Michel et al. 2019). The effect is the logit "
        "difference without the head minus that with it, as in *Switch heads off*. The head with the lowest mean in one half "
        "of the groups is selected. If one word is right in most items, a head that always prefers it counts too, so balance "
        "the items.",
        "Without {place}, selected on {on}, the word's lead over the foil changes by {effect} logits ({by_effect}){doubt} in "
        "the other {other}, from {before}.",
        ("how", "A head that is off outputs", ("zeros", "its mean over all items", "its output in another item")),
        adds_before=True,
        below="it helps the word",
    ),
    "attribution_patching": Telling(
        "What would patching bring back? (estimate)",
        "estimated share recovered",
        "a random place",
        ("changed text", "with {}, estimated"),
        "Attribution patching (Nanda 2023; Syed et al. 2023) estimates *patching* for all places at the same time: what an "
        "item's own run has there, less what that of its changed text has, times the gradient of the logit difference in the "
        "run of the changed text. A path of five takes the mean gradient at five inputs between the two (EAP-IG, Hanna et al. "
        f"2024), which is closer where softmax saturates. A first-order estimate can be wrong, so the {STRONGEST} places with "
        f"the largest estimates are patched too. {COUNTERPART}",
        "{Place}, selected on {on} by an estimate, would bring back {share} ({by_share}) of the difference in the other {other}"
        "{doubt}; {exact}.",
        (
            "estimated",
            "Patched in",
            ("the output of heads", "heads, by a path of five", "the hidden states", "the feed-forward output"),
        ),
        adds_before=True,
    ),
    "patching": Telling(
        "What brings the answer back? (patching)",
        "share recovered",
        "a random place",
        ("changed text", "with {}"),
        "An item needs a marked word with a counterpart of the same number of pieces, as in *The \\*key/keys\\* to the "
        "drawers*: the "
        "changed text has the counterpart. A part of the item's own run is put into that of the changed text, and what comes "
        "back of the logit difference is counted: 0 is the changed text, 1 the item; the mean is the sum of what comes back "
        "over the sum of the whole differences. *Changed words* are the tokens where the texts differ, *token read* is the "
        "blank. It shows where the difference between both texts is carried, and nothing that they have in common (Geiger et "
        "al. 2021; Zhang & Nanda "
        f"2024). The null is the share that the same place brings back of the difference that the texts make to {PAIRS} random "
        "other pairs of words for each item: the test asks whether the place matters more, or less, to this pair than to any. "
        "Next sentences and labels have no other pairs: there the test is of 0, which is wrong in any model for a place that "
        "carries something.",
        "{Place}, selected on {on}, brings back {share} ({by_share}) of the difference in the other {other}; {beside} "
        "{random_share}{doubt}.",
        ("patched", "Patched in", ("the hidden states", "the output of heads", "the feed-forward output")),
        null="other pairs of words",
        adds_before=True,
    ),
    "path": Telling(
        "Which head sends to which? (path patching)",
        "share recovered",
        "a random place",
        ("changed text", "with the path from {}"),
        f"{COUNTERPART} Path patching (Wang et al. 2023) takes over one head's output from the item's own run into that of the "
        "changed text, but only as far as later heads read it: every other head keeps its output, and then the queries, keys or "
        "values that this leads to go into the receiving heads. 0 is the changed text, 1 the item. *Into head* names one "
        "receiver, such as 5.11; without it all later heads receive. The null is the share of the same path for other pairs of "
        "words, as in *patching*.",
        "{Place}, selected on {on}, brings back {share} ({by_share}) of the difference in the other {other} through {receiver}"
        "{doubt}; {beside} {random_share}.",
        ("received", "Read as", ("queries", "keys", "values")),
        null="other pairs of words",
        adds_before=True,
    ),
    "erase": Telling(
        "What is lost without a concept? (erasure)",
        "change of the logit difference",
        "a random subspace",
        ("as it is", "without it in {}"),
        "LEACE (Belrose et al. 2023) erases a concept from a hidden state: it takes away the least that leaves a linear "
        "classifier nothing, from the token read or from every token. The null erases a random subspace of the same rank. The "
        "picture shows in how many items a probe (logistic regression) finds the class of the word, before and after. KL is "
        f"the mean divergence of the guesses at {OTHERS} other tokens: what else was lost. {CONCEPT}",
        "Without {concept} in {place}, selected on {on}, the logit difference of the other {other} changes by {effect} of "
        "{before} ({by_effect}){doubt}; without a random subspace by {random}.",
        ("erased", "Erase", CONCEPTS),
        adds_before=True,
        below="the word loses",
    ),
    "direction": Telling(
        "Does a direction turn the answer? (steering)",
        "change of the logit difference",
        "a random direction",
        ("as it is", "at {}"),
        "The direction is the difference between the mean vectors of both classes at the token read. Dose 1 moves a vector as "
        "far as from the mean of the word's class to that of the foil's; dose 0 changes nothing. *swap* gives the vector the "
        "foil's coordinate along the direction and leaves the rest (as Geiger et al. 2024 do with learned directions). The "
        "null moves the vector as far in a random direction. Any direction turns all items that share it, so q also asks "
        "whether the classes matter: in how many of 999 directions of shuffled classes is the effect as large (by the "
        f"gradient)? The state is selected at dose 1. {CONCEPT}",
        "{Place}, selected on {on}: moved towards the foil, the logit difference of the other {other} changes by {effect} of "
        "{before} ({by_effect}){doubt}; in a random direction by {random}.",
        ("moved", "Direction", CONCEPTS),
        adds_before=True,
        below="the foil gains",
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
        "From hidden state {state} on the word is ahead of the foil in {on}; in the other {other} it is ahead there by {size} "
        "({by_size}){doubt}.",
        ("reading", "Lens", ("raw", "tuned")),
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
        "{Place}, selected on {on}, looks there with {share} ({by_share}) of its weight in the other {other}; with another "
        "word in the place of the marked one it is {random_share}{doubt}.",
        ("looks", "Who attends", ("the blank, or the first mark", "the marked word, or the second mark")),
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
        "{Place}, selected on {on}: without its link the logit difference of the other {other} changes by {effect} "
        "({by_effect}){doubt}; without another word's link by {random}.",
        ("link", "The link", ("from the blank, or the first mark", "from the marked word, or the second mark")),
        adds_before=True,
        below="it helps the word",
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
        "{share} ({by_share}) of the last vector comes from the marked word in {items}, counted at {place}; from another word, "
        "drawn at random, {random_share}{doubt}.",
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
        "{Place}, the best on {on}, ranks the marked word first in {share} ({by_share}) of the other {other}; a random word is "
        "it in {random_share}{doubt}.",
        ("scored", "Scores for", ("word rather than foil", "the word alone")),
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
        "Counting {place}, the text with the word is more likely by {size} nats in {items} ({by_size}){doubt}.",
        ("likelihood", "Each piece is hidden", ("with the rest of its word", "alone")),
    ),
}
"""By the name of the question."""
