"""Texts to try a run on: our own for well-known labels, or held-out ones. None that its head was trained on."""

from collections.abc import Sequence

from explorer.analysis.evaluation import by_sentence
from explorer.finetune.compute.run import HeldOutTags, Run
from explorer.finetune.opening import OURS, STARTER
from explorer.text.lines import Pair

MOST_SAMPLES = 6
NAMES = ("B-LOC", "B-ORG", "B-PER", "B-TIME", "I-LOC", "I-ORG", "I-PER", "I-TIME", "O")
LABELS = tuple(name for name, _ in STARTER)
FIRST = (*OURS[frozenset(LABELS)][0], *LABELS)  # when the page opens: a text, a second one, and their labels
OFFERED = {pair: labels for labels, pairs in OURS.items() for pair in pairs}  # our texts, and the labels they are for


def samples_of(run: Run) -> tuple[Pair, ...]:
    """Texts, or pairs for a run on pairs, to try a run on."""
    ours = OURS.get(frozenset(run.predictor.labels))
    if ours is not None:
        return ours
    if isinstance(run.held_out, HeldOutTags):
        return _most_tags(run.held_out, run.predictor.labels)
    if run.held_out is None or not run.settings.get("held_out"):
        return ()  # leave-one-out: the head was trained on all of them
    return tuple(run.held_out.pairs[:MOST_SAMPLES])


def _most_tags(held: HeldOutTags, labels: Sequence[str]) -> tuple[Pair, ...]:
    """The held-out sentences with the most different tags."""
    tags = by_sentence(held.sentences, [labels[tag] for tag in held.targets])
    order = sorted(range(len(tags)), key=lambda row: -len(set(tags[row])))
    return tuple(held.pairs[row] for row in order[:MOST_SAMPLES])


def fitting(pair: Pair, offered: Sequence[str], labels: Sequence[str], samples: Sequence[Pair]) -> Pair:
    """The texts to try: those in the boxes, or the first sample where the app offered them for other labels.

    `offered` are the texts that the app put into the boxes last, and the labels they are for.
    """
    # A request made while another is answered may still have the sentence which that answer replaces.
    put_for = offered[2:] if pair == tuple(offered[:2]) else OFFERED.get(pair)
    if put_for is None or 2 * len(set(labels) & set(put_for)) >= len(labels):
        return pair
    return samples[0] if samples else ("", "")
