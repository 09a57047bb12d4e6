"""Trying a run on your own text: what the head answers, and why."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from explorer.analysis.evaluation import by_sentence
from explorer.bert.explorer import load
from explorer.bert.features import features
from explorer.core.cache import OnceCache
from explorer.core.errors import InputError
from explorer.core.limits import BOX_CHARACTERS, Limit
from explorer.finetune.cards import OURS, OUTSIDE, STARTER
from explorer.finetune.compute.answers import Answerer, places_of
from explorer.finetune.compute.in_turn import Heads, in_slow_motion
from explorer.finetune.compute.predictor import Run, as_kind
from explorer.finetune.compute.texts import Classifier, Decision, HeldOutNumbers, HeldOutTexts, Regressor
from explorer.finetune.compute.words import HeldOutTags, Tagger
from explorer.finetune.pictures import can_map, explain_map, in_one_line, is_in_turn, map_of, read_pair
from explorer.finetune.recipe import ANSWERS, TEXTS
from explorer.finetune.runs import RunView
from explorer.text import limits
from explorer.text.characters import has_visible_characters
from explorer.text.lines import Pair, split_lines
from explorer.text.tagged import split_words
from explorer.training.examples import Examples
from explorer.ui.layout import row
from explorer.ui.pictures.bars import bars, percent, short_percent, whole_percent
from explorer.ui.pictures.numbers import Table, columns_of, keep
from explorer.ui.pictures.word_effects import word_effects
from explorer.ui.pictures.word_grid import word_grid
from explorer.ui.settings import choice, text
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, button, chart, part, props, sentence, settle, show

MOST_BARS = 6
OFFER = "Examples …"
NO_MAP = "The map appears here after a training on two classes or more."
MOST_WORDS = 3  # that decided, in the table of many sentences
MOST_SHOWN = 60  # words with their tags
MANY = Limit(200, "At most {most} {what} fit into this table, and there are {given}; the endpoint /classify takes more.")
NOT_MANY = "Only a head that sorts texts into classes reads many sentences at a time."
SLOW = "Watch it learn, in slow motion"
FIRST = OURS[frozenset(name for name, _ in STARTER)][0]  # when the page opens
OFFERED = {pair: labels for labels, pairs in OURS.items() for pair in pairs}  # our texts, and the labels they are for
MOST_SAMPLES = 6
FILL, TWEETS = "Fill in examples", "Fill in six tweets, like the book's"
OF_TWEETS = {"negative", "neutral", "positive"}
_decisions: OnceCache[Any, Decision] = OnceCache(64)


class TryIt(RunView):
    """A text or a pair, the head's answer, and the words that caused it."""

    name, question = "fine-tune/try-it", "What does the head predict for your own text, and why?"
    fold = "Many sentences"
    width = 7
    layout = (row("tried", "sample"),)
    tried: str = text(FIRST[0], "Try it on a sentence", scale=5, show_label=False)
    sample: str = choice(
        [(OFFER, "")],
        "Example sentence",
        default="",
        menu=True,
        free=True,
        linked=False,
        scale=2,
        min_width=150,
        show_label=False,
    )
    second: str = text("", "Second sentence", visible=False, max_lines=8)
    verdict = part("bars", optional=True, answer=True)
    said = sentence(optional=True, answer=True)
    row = part("words", optional=True, answer=True)
    map = part("text_map", height=340, missing=NO_MAP, optional=True, answer=True)
    about_map = sentence(classes="caption", optional=True)
    slow_motion = button(SLOW, optional=True)
    words = chart("The words that decided", height=120, optional=True, answer=True)
    note = sentence(classes="caption", keep_height=True, answer=True)
    many: str = text(
        "",
        "Many sentences, one per line",
        lines=4,
        max_lines=10,
        more=True,
        limit=BOX_CHARACTERS,
        when=lambda view: view.kind == TEXTS,
    )
    offer = button(FILL, more=True, min_width=120, optional=True)
    about_many = sentence(classes="caption", optional=True, more=True)
    table = part(
        "frame",
        columns=["sentence", "label", "probability", "words that decided"],
        widths=["46%", "14%", "12%", "28%"],
        max_height=380,
        optional=True,
        more=True,
    )

    def show_run(self, subject: Subject, run: Run) -> Content:
        held = run.held_out
        pairs = run.kind == "spans" or (isinstance(held, HeldOutTexts | HeldOutNumbers) and any(held.texts_b))
        pair, shown = self._boxes(run.predictor.labels, samples_of(run), pairs)
        there = has_visible_characters(pair[0])
        shown["note"] = ""
        if run.kind != "classes":
            shown["about_many"] = NOT_MANY
            answer = {"tags": tag_words, "spans": answer_question, "number": estimate}[run.kind]
            return {**shown, **(answer(run, pair) if there else {})}
        found, labels = _decide(run, pair) if there else None, run.predictor.labels
        shown |= {"offer": TWEETS if set(labels) == OF_TWEETS else FILL, **self._table(run)}
        return {**shown, **_map(run, in_one_line(pair), found), **(_explain(found, labels) if found else {})}

    def on_slow_motion(self, subject: Subject, _: None) -> Change:
        """Show gradient descent on the way to the solution, as a film in the map."""
        run = self.find(subject)
        held, predictor = as_kind(run.held_out, HeldOutTexts), as_kind(run.predictor, Classifier)
        labels = tuple(predictor.labels[target] for target in held.targets)
        examples = Examples(tuple(held.texts), labels, held.texts_b if any(held.texts_b) else (), order=predictor.labels)
        vectors = features(load(predictor.model), examples.pairs, predictor.layer, predictor.pooling)
        return show(map=map_of(run, moments=list(in_slow_motion(Heads.of(vectors, examples), run.settings["regularization"]))))

    def on_offer(self, subject: Subject, _: None) -> Change:
        return settle(many="\n".join(in_one_line(pair) for pair in samples_of(self.find(subject))))

    def _table(self, run: Run) -> Content:
        """Each line of the box with its label and the words that decided; nothing without lines."""
        lines = split_lines(self.many)
        if not lines:
            return {}
        MANY.check(len(lines), "sentences")
        cells = []
        for line in lines:
            found = _decide(run, read_pair(limits.check_text(line, "a line")))
            strongest = [found.words[word] for word in np.argsort(-found.effects)[:MOST_WORDS] if found.effects[word] > 0.02]
            share = float(found.probabilities[found.best])
            cells.append((line, run.predictor.labels[found.best], share, ", ".join(strongest)))
        rows = [[line, label, percent(share), words] for line, label, share, words in cells]
        return {"table": keep(rows, lambda: Table.of(("sentence", "label", "probability", "words"), cells))}

    def without_run(self, subject: Subject, why: str) -> Content:
        labels = Answerer.own_labels if self.kind == ANSWERS else ()
        _, boxes = self._boxes(labels, OURS.get(frozenset(labels), ()), self.kind == ANSWERS)
        awaited: Content = {"map": props(value=None, visible=True)} if self.kind == TEXTS else {}
        return {**boxes, **awaited, "note": why}

    def _boxes(self, labels: Sequence[str], samples: Sequence[Pair], pairs: bool) -> tuple[Pair, Content]:
        asks = self.kind == ANSWERS
        pair = fit_texts((self.tried, self.second), labels, samples)
        new = pair != (self.tried, self.second)
        hint = "A question" if asks else f"A sentence that is one of: {', '.join(labels[:MOST_BARS])}"
        hint = hint if asks or (self.kind == TEXTS and len(labels) > 1) else ""
        named = [(sample[0] if asks else in_one_line(sample), in_one_line(sample)) for sample in samples]
        content = {
            "tried": props(placeholder=hint, **({"value": pair[0]} if new else {})),
            "second": props(visible=pairs, label="Text" if asks else "Second sentence", **({"value": pair[1]} if new else {})),
            "sample": props(choices=[(OFFER, ""), *named], value="", visible=bool(samples)),
        }
        return (pair if pairs else (pair[0], "")), content

    def on_sample(self, subject: Subject, sample: str) -> Change:
        return settle(**dict(zip(("tried", "second"), read_pair(sample), strict=True))) if sample else settle()


def _map(run: Run, tried: str, found: Decision | None) -> Content:
    """The map, if there is one, what it shows, and a button for the film of a head that was solved directly."""
    if not can_map(run):
        return {}
    few = is_in_turn(run) and run.predictor.top is None
    return {"map": map_of(run, tried, found), "about_map": explain_map(run), **({"slow_motion": SLOW} if few else {})}


def _decide(run: Run, pair: Pair) -> Decision:
    classifier = as_kind(run.predictor, Classifier)
    return _decisions.get((run.id, pair), lambda: classifier.decide(load(classifier.model), pair))


def _explain(found: Decision, labels: Sequence[str]) -> Content:
    """The probabilities of the classes, and the effect of every word."""
    ranked = np.argsort(-found.probabilities, kind="stable")[:MOST_BARS]
    return {
        "verdict": bars([(labels[place], float(found.probabilities[place]), "") for place in ranked], ranked.tolist()),
        **({"words": word_effects(found.words, found.effects.tolist(), series=found.best)} if found.words else {}),
        "note": f"How much the probability of {labels[found.best]} falls when one word is hidden behind [MASK] (occlusion).",
    }


def estimate(run: Run, pair: Pair) -> Content:
    """The number of a text or pair, on the scale of the examples."""
    predictor, held = as_kind(run.predictor, Regressor), run.held_out
    said = f"{predictor.estimate(load(predictor.model), [pair])[0]:.2f}"
    if isinstance(held, HeldOutNumbers) and len(held.targets):
        said += f", where the held-out numbers are {held.targets.min():g} to {held.targets.max():g}"
    return {"said": f"{said}."}


def samples_of(run: Run) -> tuple[Pair, ...]:
    """Texts or pairs to try a run on, of which its head learned none: our own for well-known labels, or held-out ones."""
    ours = OURS.get(frozenset(run.predictor.labels))
    if ours is not None:
        return ours
    if run.held_out is None or not run.settings.get("held_out"):
        return ()  # leave-one-out: the head was trained on all of them
    pairs = run.held_out.pairs
    if isinstance(run.held_out, HeldOutTags):  # those with the most different tags
        tags = by_sentence(run.held_out.sentences, [run.predictor.labels[tag] for tag in run.held_out.targets])
        pairs = [pairs[row] for row in sorted(range(len(tags)), key=lambda row: -len(set(tags[row])))]
    return tuple(pairs[:MOST_SAMPLES])


def fit_texts(pair: Pair, labels: Sequence[str], samples: Sequence[Pair]) -> Pair:
    """The texts to try: those in the boxes, or the first sample in place of our own texts for other labels."""
    put_for = OFFERED.get(pair)
    if put_for is None or 2 * len(set(labels) & set(put_for)) >= len(labels):
        return pair
    return samples[0] if samples else ("", "")


def tag_words(run: Run, pair: Pair) -> Content:
    """A tag under each word of a text, and how sure it is. Raises InputError."""
    words = split_words(limits.check_text(pair[0], "the sentence"))
    labels, predictor = run.predictor.labels, as_kind(run.predictor, Tagger)
    (shares,) = predictor.tag(load(predictor.model), [words])
    read, said, sure = len(shares), shares.argmax(-1), shares.max(-1)
    if not read:
        raise InputError("The model reads none of these words. Type others.")
    seen = [0.0 if labels[tag] == OUTSIDE else float(share) for tag, share in zip(said, sure, strict=True)]
    cells = [(labels[tag], one, _ranked(labels, row)) for tag, one, row in zip(said, seen, shares, strict=True)]
    odds = [(short_percent(float(share)), 0.0, "") for share in sure]
    grid = word_grid("word", words[:MOST_SHOWN], ["tag", "how sure"], [cells[:MOST_SHOWN], odds[:MOST_SHOWN]])
    least = int(sure.argmin())
    note = f"Least sure of “{words[least]}”: {_ranked(labels, shares[least])}."
    if read < len(words):
        note += f" The model reads the first {read:,} of {len(words):,} words only; the others get no tag."
    if read > MOST_SHOWN:
        note += f" The first {MOST_SHOWN} words are shown."
    kept = keep(grid, lambda: columns_of(word=words[:read], tag=[labels[tag] for tag in said], probability=sure))
    return {"row": kept, "note": note}


def _ranked(labels: tuple[str, ...], shares: np.ndarray) -> str:
    return ", ".join(f"{labels[place]} {whole_percent(float(shares[place]))}" for place in np.argsort(-shares)[:2])


def answer_question(run: Run, pair: Pair) -> Content:
    """The answer, and below each token of the text the probability that it begins and ends it; [CLS] is for no answer."""
    if not has_visible_characters(pair[1]):
        return {"said": "Type a question and a text."}
    found = as_kind(run.predictor, Answerer).answer(load(run.predictor.model), *pair)
    said = f"“{found.text}”, with {percent(found.score)}; no answer, {percent(found.no_answer)}."
    if not found.text:
        said = f"No answer, with {percent(found.no_answer)}; the best span has {percent(found.score)}."
    encoding, places = found.encoding, [0, *places_of(found.encoding, len(found.shares))]
    tokens, shares = [encoding.tokens[token] for token in places], found.shares[places]
    cells = [[(percent(float(share)), float(share), "") for share in shares[:, side]] for side in range(2)]
    outlined = (0, places.index(found.span[0] if found.text else 0))
    row = word_grid("token", tokens, ["begins", "ends"], cells, outlined=outlined)
    note = "How likely each token of the text begins and ends the answer; [CLS] is for no answer."
    if len(found.shares) < encoding.total:
        note += f" The model reads the first {found.read:,} characters of the text."
    kept = keep(row, lambda: columns_of(position=places, token=tokens, begins=shares[:, 0], ends=shares[:, 1]))
    return {"said": said, "row": kept, "note": note}
