"""Texts to try a run on: our own for well-known labels, or held-out ones. None that its head was trained on."""

from collections.abc import Sequence

from explorer.analysis.evaluation import by_sentence
from explorer.finetune.cards import STARTER
from explorer.finetune.compute.answering import Answerer
from explorer.finetune.compute.run import HeldOutTags, Run
from explorer.text.lines import Pair

MOST_SAMPLES = 6
PARK = (
    "Rita sells ice cream in the park from May to October. Her cart is pink and has three wheels. "
    "On Sundays her uncle helps her because many families come."
)
TRAIN = (
    "The night train from Hamburg stopped in a forest at two in the morning. A moose stood on the rails. "
    "The driver, Mr Holm, waited for half an hour until it walked away."
)
NAMES = ("B-LOC", "B-ORG", "B-PER", "B-TIME", "I-LOC", "I-ORG", "I-PER", "I-TIME", "O")


def _texts(*texts: str) -> tuple[Pair, ...]:
    return tuple((text, "") for text in texts)


OURS: dict[frozenset[str], tuple[Pair, ...]] = {
    frozenset(("animal", "vehicle", "food")): _texts(
        "An eagle circled above the valley.",
        "The coach to Glasgow broke down on the motorway.",
        "Would you like some honey on your toast?",
        "Two squirrels ran up the chestnut tree.",
        "He fried the fish in butter and lemon.",
        "A taxi was waiting outside the theatre.",
    ),
    frozenset(("positive", "negative", "neutral")): _texts(
        "I love how happy and kind everyone was at the party.",
        "I hate this phone, it is terrible and broke again.",
        "Thank you so much, this is the best day of my life!",
        "So sad and tired, this week has been awful.",
        "My flight to Oslo leaves at half past six.",
        "They moved the meeting to the small room.",
    ),
    frozenset(("ham", "spam")): _texts(
        "Congratulations, you have won a free prize! Click here to claim your cash.",
        "Are we still meeting at the station at six?",
        "Earn money from home today, no risk, reply now.",
        "Can you bring the keys back tomorrow?",
    ),
    frozenset(("person", "place", "time", "thing", "reason", "number")): _texts(
        "Who painted the ceiling of this chapel?",
        "Where do penguins live?",
        "When did the war end?",
        "How many legs does a spider have?",
        "Why is the sky blue?",
        "What do you keep in that box?",
    ),
    frozenset(("same", "different")): (
        ("The shop closes at six.", "The store shuts at six o'clock."),
        ("The dog chased the cat.", "The cat chased the dog."),
        ("He hardly ever eats meat.", "He eats meat every day."),
        ("My brother is older than me.", "I am younger than my brother."),
    ),
    frozenset(("grammatical", "ungrammatical")): _texts(
        "She has lived in this street for ten years.",
        "He go to school by bus every days.",
        "The children was playing in the garden.",
        "None of us knew the answer.",
    ),
    frozenset(("entailment", "neutral", "contradiction")): (
        ("A man is playing the guitar on the beach.", "Somebody is making music."),
        ("The museum is closed on Mondays.", "You can visit the museum every day."),
        ("She bought two loaves of bread.", "She bought them for her mother."),
    ),
    frozenset(NAMES): _texts(
        "May Brown works for Apple in London and may leave in May.",
        "Rose planted a rose in Boston last May.",
        "The United Nations opened an office in Turkey in 1995.",
        "We ate the turkey that Peter had cooked on Sunday.",
        "Grace left Google in 2010 and bought a farm in Turkey.",
    ),
    frozenset(Answerer.own_labels): (
        ("Where does Rita sell ice cream?", PARK),
        ("Who helps Rita on Sundays?", PARK),
        ("How many wheels does the cart have?", PARK),
        ("How much does the ice cream cost?", PARK),
        ("When did the train stop in a forest?", TRAIN),
        ("What stood on the rails?", TRAIN),
    ),
}
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
