"""The tab Next sentence: whether B follows A, in which order, and why."""

from explorer.next_sentence.pair import PairAttribution, PairHeads, SwappedPair, ThisPair
from explorer.next_sentence.pairs import ManyPairs, NextSentences
from explorer.ui.tabs import Tab

TAB = Tab(
    "next-sentence",
    "Next sentence",
    "Does B follow A?",
    {
        "This pair": [[ThisPair, SwappedPair]],
        "Many pairs": [[ManyPairs]],
        "Find the next sentence": [[NextSentences]],
        "Which tokens": [[PairAttribution]],
        "Which heads": [[PairHeads]],
    },
    needs="next_sentence",
    groups={"ask": "This pair", "look inside": "Which tokens", "intervene": "Which heads"},
    note="BERT was trained with strangers from other documents, so that it judges the topic more than the logic. "
    "RoBERTa (Liu et al. 2019) dropped this task: without it, and with longer runs of text, it did as well or "
    "better; ALBERT (Lan et al. 2020) asks instead which of two neighbours came first.",
)
