"""The tab Next sentence: whether B follows A, in which order, and why."""

from typing import Any

from explorer.next_sentence.pair import PairAttribution, PairHeads, ThisPair
from explorer.next_sentence.pairs import PAIRS, ManyPairs
from explorer.ui.programs import Values, as_typed, program
from explorer.ui.subject import Subject
from explorer.ui.tabs import Moved, Tab


def pairs(view: Any, subject: Subject) -> Values:
    return {"pairs": [tuple(as_typed(subject, *pair)) for pair in view.asked(subject)]}


TAB = Tab(
    "next-sentence",
    "Next sentence",
    "Does B follow A?",
    {"This pair": [[ThisPair], [PairAttribution], [PairHeads]], "Many pairs": [[ManyPairs]]},
    needs="next_sentence",
    moved={
        "find-the-next-sentence": Moved(
            "Many pairs ranks candidates for B now.",
            "next-sentence",
            "many-pairs",
            {"candidates": "\n".join(dict.fromkeys(b for _, b in PAIRS))},
        ),
        "which-tokens": Moved("The tokens are in This pair now, behind the button Attribute.", "next-sentence", "this-pair"),
        "which-heads": Moved("The heads are in This pair now, where each has a switch.", "next-sentence", "this-pair"),
    },
    note="BERT's negative examples came from other documents, so BERT mostly judges topic, not logic. RoBERTa (Liu et al. "
    "2019) dropped this task and did as well or better without it, on longer runs of text. ALBERT (Lan et al. 2020) predicts "
    "instead which of two neighbouring sentences came first.",
    programs={
        "next-sentence/pair": program("pair"),
        "next-sentence/pairs": program("pairs", "pairs", "candidates", values=pairs),
    },
)
