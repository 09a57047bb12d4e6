"""Questions of an experiment about what an answer comes from: links cut, attribution, routes; and how likely whole texts are."""

from explorer.experiments.asking import TESTS, AskingView, between, capital, doubt, helping, percent, plain, results
from explorer.experiments.compute.attention import BACKWARD, FORWARD
from explorer.experiments.compute.experiment import Experiment
from explorer.experiments.compute.origins import ALONE, FOIL, STEPS
from explorer.experiments.compute.targets import WORD
from explorer.experiments.naming import of_items, place_name
from explorer.experiments.source import ITEMS, TARGET, WITH_TARGET
from explorer.techniques.pseudo_likelihood import WORD_L2R
from explorer.ui.pictures.bars import signed
from explorer.ui.settings import choice, use
from explorer.ui.view import caption

MARKED = "An item needs a marked word, as in *The \\*keys\\* to the drawers*. "


class CutOver(AskingView):
    """The link from the blank to the marked word cut in every head."""

    name, question = "experiments/cut", "Which link does the answer need?"
    start = "Cut the link in every item"
    layout = (*WITH_TARGET, results("link"))
    asks, way_of = "cut", "link"
    unit, beside = "change of the logit difference", "another word's link"
    columns_each, adds_before = ("all links", "without it in {}"), True
    link: str = choice(
        [("from the blank, or the first mark", FORWARD), ("from the marked word, or the second mark", BACKWARD)],
        "The link",
        menu=True,
        elem_classes="inline",
    )
    target: str = use(TARGET, WORD)
    help = caption(
        MARKED + "The weight with which the blank looks at it is set to zero in one head at a time, for all pieces of the word, "
        "and the rest of the row stays, as in *Overview*. With two marked words it is the weight from the first to the second. "
        "Blue: the link helps the word. The null cuts another link of the same head, in which a random word takes the "
        "place of the marked one." + TESTS
    )

    def tell(self, found: Experiment) -> str:
        held = found.summary.held_out
        return (
            f"{capital(place_name(found.axes, found.summary.selected))}, selected on {of_items(len(found.items) - held.items)}: "
            f"without its link the logit difference of the other {held.items} changes by {signed(held.effect)} "
            f"({between(held, signed)}){doubt(held)}; without another word's link by {signed(held.random)}."
        )

    def counted(self, found: Experiment, at: tuple[int, ...]) -> str:
        """In how many items the link helps."""
        return helping(found, at)


class CueOver(AskingView):
    """Which method of attribution ranks the marked word first."""

    name, question = "experiments/attribution", "Which attribution finds the word that decides?"
    start = "Attribute every item"
    layout = (*ITEMS, results("scored"))
    asks, way_of = "attribution", "scored"
    unit, beside = "share of items", "a random word"
    is_share = True
    columns_each = ("logit difference", "first")
    scored: str = choice([("word rather than foil", FOIL), ("the word alone", ALONE)], "Scores for", elem_classes="inline")
    help = caption(
        MARKED + "In how many items does the marked word, the one that decides by the grammar, get the highest score of all "
        "words? The scores are those of *Attribution*, summed over the pieces of a word (occlusion hides them at once), with "
        f"{STEPS} steps of integrated gradients. The null is what a random word would find." + TESTS
    )

    def tell(self, found: Experiment) -> str:
        held, name = found.summary.held_out, capital(place_name(found.axes, found.summary.selected))
        return (
            f"{name}, the best on {of_items(len(found.items) - held.items)}, ranks the marked word first in {percent(held)} of "
            f"the other {held.items}; a random word is it in {100 * held.random:.0f}%{doubt(held)}."
        )


class RoutesOver(AskingView):
    """How much of the answer comes from the marked word."""

    name, question = "experiments/routes", "How much comes from the marked word?"
    start = "Follow the routes of every item"
    layout = (*WITH_TARGET, results())
    asks = "routes"
    unit, beside = "share", "another word"
    is_share = True
    columns_each = ("logit difference", "share at {}")
    target: str = use(TARGET, WORD)
    help = caption(
        MARKED
        + "The routes (ALTI, Ferrando et al. 2022) say which share of the last vector of the blank comes from each token of "
        "a hidden state, as in *Overview*; of a word of several pieces it is the sum. The null is the share of another word of "
        "the same item, drawn at random. A share says what is mixed in, not what it does to the answer." + TESTS
    )

    def tell(self, found: Experiment) -> str:
        held = found.summary.held_out
        return (
            f"{percent(held)} of the last vector comes from the marked word in {of_items(held.items)}, counted at "
            f"{place_name(found.axes, found.summary.selected)}; from another word, drawn at random, "
            f"{100 * held.random:.0f}%{doubt(held)}."
        )


class LikelihoodOver(AskingView):
    """How likely the text with the word is, beside that with its foil."""

    name, question = "experiments/likelihood", "Which text surprises less?"
    start = "Read every text piece by piece"
    layout = (*ITEMS, results("likelihood"))
    asks, way_of = "likelihood", "likelihood"
    unit, beside = "log-likelihood difference (nats)", "the mean of the three"
    columns_each = ("the blank", "{}")
    likelihood: str = choice([("with the rest of its word", WORD_L2R), ("alone", "pseudo_likelihood")], "Each piece is hidden")
    help = caption(
        "Both texts, with the word and with the foil in the blank, are read piece by piece, and the logarithms of the "
        "probabilities are summed. Each piece is hidden with the later pieces of its word (Kauf & Ivanova 2023); hidden alone "
        "(Salazar et al. 2020), rare words of many pieces look too probable. Above 0 the text with the word is more likely. "
        "*The other pieces* leaves out the blank, as Nangia et al. 2020 do, so that the frequency of the two words does not "
        "count." + TESTS
    )

    def tell(self, found: Experiment) -> str:
        """By how much the word's text is ahead on the other half."""
        held = found.summary.held_out
        return (
            f"Counting {place_name(found.axes, found.summary.selected)}, the text with the word is likelier by "
            f"{plain(held.effect)} nats in {of_items(held.items)} ({between(held)}){doubt(held)}."
        )
