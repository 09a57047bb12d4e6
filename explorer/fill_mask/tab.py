"""The tab Fill-mask: guesses for a blank, in which layer they arise, and which parts of the model are responsible."""

from typing import Any

from explorer.fill_mask.compute import WORDS
from explorer.fill_mask.game import Game
from explorer.fill_mask.guesses import MOST_TOGETHER, Comparison, FilledTogether, Guesses, WordsToHide
from explorer.fill_mask.lens import FollowedWords, Lens, chosen_lens
from explorer.fill_mask.patching import Patching
from explorer.fill_mask.positions import EachWord, EveryPosition, Likelihoods
from explorer.fill_mask.word import WordAttribution, WordHeads, WordWhatIf
from explorer.ui.programs import Values, program
from explorer.ui.subject import Subject
from explorer.ui.tabs import Moved, Tab


def answer(target: Any, subject: Subject) -> dict[str, Any]:
    pieces = subject.model.tokenizer.convert_ids_to_tokens([target.id, *([] if target.foil is None else [target.foil])])
    return {"position": target.position, "word": pieces[0], "foil": pieces[1] if len(pieces) > 1 else None}


def together(view: Any, subject: Subject) -> Values:
    """For several blanks, no more than the view fills."""
    return {} if 1 < len(subject.trace.mask_positions) <= MOST_TOGETHER else None


def heads_off(view: Any, subject: Subject) -> Values:
    """The answer; not where the run is changed already."""
    return None if subject.selection.is_changed else answer(view.target(subject), subject)


def what_if(view: Any, subject: Subject) -> Values:
    """The answer for a blank, heads off and weights cut; not for other changes, or a word that the view hides itself."""
    chosen, question = subject.selection, view.asked(subject)
    if question is None or not (chosen.off or chosen.cut) or chosen.swap or chosen.move or chosen.path:
        return None
    if question.hidden is not None or question.target.head != "fill_mask":
        return None
    changes = {"off": list(map(tuple, chosen.off_from_one)), "cut": list(map(tuple, chosen.cut_from_one))}
    return answer(question.target, subject) | changes


def patching(view: Any, subject: Subject) -> Values:
    """Both runs; not where they differ in length, of which the view says what to do."""
    clean, corrupted = view.pair(subject)
    if clean.kept != corrupted.kept:
        return None
    texts = {"text_a": clean.encoding.text_a, "text_b": clean.encoding.text_b or None}
    return texts | {"corrupted": list(corrupted.tokens)} | answer(view.target(subject, clean, corrupted), subject)


def integrated_gradients(view: Any, subject: Subject) -> Values:
    return answer(view.target(subject), subject) | {"steps": int(view.steps)}


def tuned_lens(view: Any, subject: Subject) -> Values:
    """Where the tuned lens of this model is used."""
    return None if chosen_lens(subject, view.reading) is None else {}


TAB = Tab(
    "fill-mask",
    "Fill-mask",
    "What belongs in the blank?",
    {
        "Guesses": [[Guesses, Comparison], [WordWhatIf], [FilledTogether]],
        "Lens": [[Lens], [FollowedWords]],
        "Attribution": [[WordAttribution]],
        "Every position": [[EveryPosition], [Likelihoods]],
        "Switch heads off": [[WordHeads]],
        "Patching": [[Patching]],
        "Pre-training game": [[Game]],
    },
    needs="fill_mask",
    above=[WordsToHide, EachWord],
    shared=[["word", "foil"]],
    moved={
        "quiz": Moved(
            "The quiz is now part of lessons and rooms, which ask before BERT answers. This game hides words of your own text.",
            "fill-mask",
            "pre-training-game",
            {"strategy": WORDS},
        )
    },
    programs={
        "fill-mask/guesses": program("guesses", "top_k"),
        "fill-mask/together": program("together", values=together),
        **dict.fromkeys(("fill-mask/positions", "fill-mask/each-word"), program("surprisal")),
        "fill-mask/lens": (program("lens"), program("tuned_lens", "reading", values=tuned_lens)),
        "fill-mask/heads": program("heads_off", "word", "foil", values=heads_off),
        **dict.fromkeys(("fill-mask/what-if", "overview/what-if", "attention/what-if"), program("what_if", values=what_if)),
        "fill-mask/patching": program("patching", "word", "foil", "corrupted", values=patching),
        "fill-mask/attribution": program("integrated_gradients", "steps", "word", "foil", values=integrated_gradients),
    },
)
