"""Trying the classifier on your own sentence."""

from typing import Any

import numpy as np

from explorer.bert.explorer import load
from explorer.bert.features import features
from explorer.core.cache import OnceCache
from explorer.core.limits import BOX_CHARACTERS, Limit
from explorer.finetune.cards import STARTER
from explorer.finetune.compute.in_turn import Heads, in_slow_motion
from explorer.finetune.compute.predictor import Classifier, Regressor, of_kind
from explorer.finetune.compute.reasons import Decision, decide, estimate_without
from explorer.finetune.compute.run import HeldOutNumbers, HeldOutTexts, Run
from explorer.finetune.learn_map import can_map, explain_map, is_in_turn, map_of
from explorer.finetune.run import RunView
from explorer.techniques.attribution import Path
from explorer.text import limits
from explorer.text.characters import has_visible_characters
from explorer.text.lines import Pair, split_lines
from explorer.training.examples import Examples
from explorer.ui.layout import row
from explorer.ui.pictures.bars import bar_groups, bars, percent
from explorer.ui.pictures.numbers import Table, keep
from explorer.ui.pictures.word_effects import word_effects
from explorer.ui.settings import choice, memory, text
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, button, chart, part, props, sentence, settle, show

MOST_BARS, MOST_SAMPLES = 6, 6
OFFER = "or one of these …"
NO_MAP = "The map appears here when two classes have two sentences each."
MOST_WORDS = 3  # that decided, in the table of many sentences
MANY = Limit(200, "At most {most} {what} fit into this table, and there are {given}; the endpoint /classify takes more.")
METHODS = (("hide each word", "occlusion"), ("integrated gradients", "integrated_gradients"))


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

LABELS = tuple(name for name, _ in STARTER)
FIRST = (*OURS[frozenset(LABELS)][0], *LABELS)  # when the page opens
OFFERED = {pair: labels for labels, pairs in OURS.items() for pair in pairs}  # our sentences, and the labels they are for
_decisions: OnceCache[Any, Decision] = OnceCache(64)


def _strings(value: Any) -> tuple[str, ...]:
    """A text, a second one, and labels, from a browser's memory; FIRST if it is anything else."""
    fine = isinstance(value, list | tuple) and len(value) > 2 and all(isinstance(text, str) for text in value)
    return tuple(value) if fine else FIRST


class TryIt(RunView):
    """A text or a pair, the classifier's decision, and the words that caused it."""

    name, question = "fine-tune/try-it", "What does it say of a sentence of your own, and why?"
    fold = "Many sentences"
    width = 7
    layout = (row("tried", "sample"),)
    tried: str = text(FIRST[0], "Try it on a sentence", scale=5, show_label=False)
    sample: str = choice(
        [(OFFER, "")], "or one of these", default="", menu=True, free=True, linked=False, scale=2, min_width=150, show_label=False
    )
    second: str = text("", "Second sentence", visible=False)
    offered: tuple[str, ...] = memory(FIRST, kept=_strings, linked=False)  # offered by the app, and the labels it is for
    verdict = part("bars", answer=True)
    map = part("text_map", height=340, missing=NO_MAP, answer=True)
    about_map = sentence(classes="caption", optional=True)
    slow_motion = button("Watch it learn, in slow motion", optional=True)
    words = chart("The words that decided", height=120, answer=True)
    note = sentence(classes="caption", keep_height=True, answer=True)
    method: str = choice(METHODS, "The words that decided", menu=True)
    many: str = text("", "Many sentences, one per line", lines=4, max_lines=10, more=True, limit=BOX_CHARACTERS)
    offer = button("Fill in examples", more=True, min_width=120)
    table = part(
        "frame",
        columns=["sentence", "label", "probability", "words that decided"],
        widths=["46%", "14%", "12%", "28%"],
        max_height=380,
        optional=True,
        more=True,
    )

    def show_run(self, subject: Subject, run: Run) -> Content:
        pairs = isinstance(run.held_out, HeldOutTexts | HeldOutNumbers) and any(run.held_out.texts_b)
        pair, shown = self._fitting(run, pairs)
        there = has_visible_characters(pair[0])
        if run.kind == "number":
            said = _verdict_of_number(run, pair) if there else {"verdict": None, "words": None, "note": ""}
            return {**shown, **said, "map": props(value=None, visible=False)}
        shown |= self._table(run)
        if not there:
            return {**shown, "verdict": None, "words": None, "note": "", **self._map(run)}
        found = self._decide(run, pair)
        labels = run.predictor.labels
        ranked = np.argsort(-found.probabilities, kind="stable")[:MOST_BARS]
        words = word_effects(found.words, found.effects.tolist(), found.path is None, series=found.best) if found.words else None
        return {
            **shown,
            "verdict": bars([(labels[place], float(found.probabilities[place]), "") for place in ranked], ranked.tolist()),
            **self._map(run, _in_one_line(pair), found),
            "words": words,
            "note": _explain(labels[found.best], found.path),
        }

    def _map(self, run: Run, tried: str = "", found: Decision | None = None) -> Content:
        if not can_map(run):
            return {"map": props(value=None, visible=False)}
        few = is_in_turn(run) and run.predictor.top is None
        slow: Content = {"slow_motion": "Watch it learn, in slow motion"} if few else {}
        return {"map": props(value=map_of(run, tried, found), visible=True), "about_map": explain_map(run), **slow}

    def on_slow_motion(self, subject: Subject, _: None) -> Change:
        """Show gradient descent on the way to the solution, as a film in the map."""
        run = self.find(subject)
        held, predictor = run.held(HeldOutTexts), of_kind(run.predictor, Classifier)
        labels = tuple(predictor.labels[target] for target in held.targets)
        examples = Examples(tuple(held.texts), labels, held.texts_b if any(held.texts_b) else (), order=predictor.labels)
        vectors = features(load(predictor.model), examples.pairs, predictor.layer, predictor.pooling)
        return show(map=map_of(run, moments=list(in_slow_motion(Heads.of(vectors, examples), run.settings["regularization"]))))

    def on_offer(self, subject: Subject, _: None) -> Change:
        """Put the sentences offered for this run into the box, six of them or fewer."""
        return settle(many="\n".join(_in_one_line(pair) for pair in samples_of(self.find(subject))))

    def _table(self, run: Run) -> Content:
        """Each line of the box with its label and the words that decided; nothing without lines."""
        lines = split_lines(self.many)
        if not lines:
            return {}
        MANY.check(len(lines), "sentences")
        classifier = of_kind(run.predictor, Classifier)
        rows, cells = [], []
        for line in lines:
            found = self._decide(run, (limits.check_text(line, "a line"), ""), "occlusion")
            label, share = classifier.labels[found.best], float(found.probabilities[found.best])
            strongest = [found.words[word] for word in np.argsort(-found.effects)[:MOST_WORDS] if found.effects[word] > 0.02]
            rows.append([line, label, percent(share), ", ".join(strongest)])
            cells.append([line, label, share, ", ".join(strongest)])
        return {"table": keep(rows, lambda: Table.of(("sentence", "label", "probability", "words"), cells))}

    def without_run(self, why: str) -> Content:
        return {**super().without_run(why), "map": props(value=None, visible=True), "note": why}

    def _fitting(self, run: Run, pairs: bool) -> tuple[Pair, Content]:
        """The text to try, and the boxes for it: an offered sentence is replaced when it fits no label any more."""
        labels, samples = run.predictor.labels, samples_of(run)
        pair, content = (self.tried, self.second), Content()
        # A request made while another is answered may still have the sentence which that answer replaces.
        put_for = self.offered[2:] if pair == self.offered[:2] else OFFERED.get(pair)
        if put_for is not None and 2 * len(set(labels) & set(put_for)) < len(labels):
            pair = samples[0] if samples else ("", "")
            content["offered"] = (*pair, *labels)
        hint = f"A sentence that is one of: {', '.join(labels[:MOST_BARS])}" if run.kind == "classes" else ""
        content["tried"] = props(placeholder=hint, **({"value": pair[0]} if "offered" in content else {}))
        content["second"] = props(visible=pairs, **({"value": pair[1]} if "offered" in content else {}))
        content["sample"] = props(choices=[(OFFER, ""), *map(_in_one_line, samples)], value="", visible=bool(samples))
        return (pair if pairs else (pair[0], "")), content

    def on_sample(self, subject: Subject, sample: str) -> Change:
        if not sample:
            return settle()
        run = self.find(subject)
        pair = next((texts for texts in samples_of(run) if _in_one_line(texts) == sample), (sample, ""))
        return settle(tried=pair[0], second=pair[1], offered=(*pair, *run.predictor.labels))

    def _decide(self, run: Run, pair: Pair, method: str = "") -> Decision:
        method, classifier = method or self.method, of_kind(run.predictor, Classifier)
        return _decisions.get((run.id, pair, method), lambda: decide(classifier, load(classifier.model), pair, method))


def _in_one_line(pair: Pair) -> str:
    return " / ".join(filter(None, pair))


def _explain(label: str, path: Path | None) -> str | dict[str, str]:
    """What the bars of the words mean, with a check of their sum if there is one."""
    if path is None:
        return f"How much the probability of {label} falls when one word is hidden behind [MASK] (occlusion)."
    mark = "✓ their sum matches" if path.sums_up else "✗ their sum does not match"
    explained = (
        f"What each word adds to the log-odds of {label}, from [PAD] everywhere to this text (integrated gradients, "
        f"{path.steps} steps). {mark} the model's change of {path.change:+.2f}, off by {abs(path.delta):.0e}."
    )
    return {"text": explained, "kind": "info" if path.sums_up else "error"}


def samples_of(run: Run) -> tuple[Pair, ...]:
    """Texts, or pairs for a run on pairs, to try a run on; none that its head was trained on."""
    ours = OURS.get(frozenset(run.predictor.labels))
    if ours is not None:
        return ours
    held = run.held_out
    if not isinstance(held, HeldOutTexts | HeldOutNumbers) or not run.settings.get("held_out"):
        return ()  # leave-one-out: the head was trained on all of them
    return tuple(zip(held.texts, held.texts_b, strict=True))[:MOST_SAMPLES]


def _verdict_of_number(run: Run, pair: Pair) -> Content:
    """The estimate for a text or pair on the scale of the examples, and the effect of masking each word (occlusion)."""
    said, words, effects = estimate_without(of_kind(run.predictor, Regressor), load(run.predictor.model), pair)
    low, high = _scale(run)
    share = (min(max(said, low), high) - low) / (high - low)
    rows = [(f"{said:.2f}", share, f"on a scale from {low:g} to {high:g}")]
    return {
        "verdict": bar_groups([("", rows)], form=".0%"),
        "words": word_effects(words, effects.tolist(), shares=False) if words else None,
        "note": "How much lower the number is when one word is hidden behind [MASK] (occlusion).",
    }


def _scale(run: Run) -> tuple[float, float]:
    """The lowest and the highest held-out number; 0 to 1 if there are none."""
    if run.held_out is None:
        return 0.0, 1.0
    right = run.held(HeldOutNumbers).targets
    return (0.0, 1.0) if np.ptp(right) == 0 else (float(right.min()), float(right.max()))
