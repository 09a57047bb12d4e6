"""Sentences to try a run on: our own for the built-in sets, otherwise held-out ones."""

from explorer.finetune.compute.run import HeldOutNumbers, HeldOutTexts, Run
from explorer.text.pairs import Pair

MOST = 6


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
}


def samples_of(run: Run) -> tuple[Pair, ...]:
    """Texts, or pairs for a run on pairs, to try a run on; none that its head was trained on."""
    ours = OURS.get(frozenset(run.predictor.labels))
    if ours is not None:
        return ours
    held = run.held_out
    if not isinstance(held, HeldOutTexts | HeldOutNumbers) or not run.settings.get("held_out"):
        return ()  # leave-one-out: the head was trained on all of them
    return tuple(zip(held.texts, held.texts_b, strict=True))[:MOST]
