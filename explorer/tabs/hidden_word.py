"""Hidden states of one word in many contexts: where a static vector and a contextual one part."""

import csv
import functools
from dataclasses import dataclass

import gradio as gr
import numpy as np

from explorer.analysis import contextuality
from explorer.analysis.mapping import chained
from explorer.analysis.projection import principal_components
from explorer.analysis.similarity import cosines, mean_of_pairs
from explorer.base.errors import InputError
from explorer.base.paths import EXAMPLES
from explorer.figures.hidden import context_lines
from explorer.figures.maps import map_figure
from explorer.page.components import Notice, PlotlyChart
from explorer.page.wiring import Page, Updates, View, typed_in
from explorer.tabs.hidden_piece import Piece, layer_name
from explorer.text.limits import MAX_COMPARED, check_texts
from explorer.text.lines import read_lines

ABOVE = "A and B above"
FIRST = "bank"
NOT_TOLD_APART = "crane"
MOST_CONTROLS = 2


@dataclass(frozen=True)
class Contexts:
    """A word's vectors [layers + 1, contexts, hidden], with the text and the sense of each context."""

    vectors: np.ndarray
    texts: list[str]
    senses: list[str]


@dataclass(frozen=True)
class Parts:
    """The components of the view."""

    column: gr.Column
    source: gr.Dropdown
    word: gr.Dropdown
    adjusted: gr.Checkbox
    lines: PlotlyChart
    told: gr.Markdown
    chart: PlotlyChart
    said: gr.Markdown
    sentences: gr.Textbox
    problem: Notice


def _build_parts() -> Parts:
    names = [*senses(), ABOVE]
    labels = [f"{name} (not told apart)" if name == NOT_TOLD_APART else name for name in names]
    with gr.Column(visible=False) as column:
        with gr.Row(elem_classes="controls"):
            source = gr.Dropdown(
                list(zip(labels, names, strict=True)), value=FIRST, label="Sentences", elem_id="word-source"
            )
            word = gr.Dropdown([FIRST], value=FIRST, label="Word", elem_id="word-chosen", allow_custom_value=True)
            adjusted = gr.Checkbox(False, label="Above random tokens", elem_id="word-adjusted")
        with gr.Row(elem_classes="overview-detail"):
            with gr.Column(scale=1, min_width=320):
                lines = PlotlyChart(height=440, label="Cosine between the contexts, by layer", elem_id="word-lines")
                told = gr.Markdown(elem_classes="caption")
            with gr.Column(scale=1, min_width=320):
                chart = PlotlyChart(height=440, label="Sense map: one point a sentence", elem_id="sense-map")
                said = gr.Markdown(elem_classes="caption")
        sentences = gr.Textbox(
            senses()[FIRST],
            lines=8,
            max_lines=8,
            label="One sentence a line; its sense may follow after\u00a0|",
            elem_id="word-sentences",
        )
        problem = Notice(elem_id="word-problem")
    return Parts(column, source, word, adjusted, lines, told, chart, said, sentences, problem)


def build(page: Page) -> Piece:
    """Make the view."""
    parts = _build_parts()
    controls = [parts.source, parts.word, parts.adjusted, parts.sentences]
    drawn = [parts.lines, parts.told, parts.chart, parts.said, parts.problem]

    def draw(view: View, source: str, word: str, adjusted: bool, sentences: str) -> Updates:
        try:
            texts, labels = _texts(view, source, sentences)
            contexts = _contexts(view, texts, labels, word)
        except InputError as error:
            why = {"text": str(error), "kind": "error"}
            return {parts.lines: None, parts.told: "", parts.chart: None, parts.said: "", parts.problem: why}
        return {
            parts.lines: _lines(view, contexts, texts, word, adjusted),
            parts.told: TOLD if len(set(contexts.senses)) > 1 else TOLD_PAIR,
            parts.problem: "",
            **draw_map(view, contexts),
        }

    def draw_map(view: View, contexts: Contexts) -> Updates:
        at = view.selection.layer
        maps = chained([principal_components(vectors, 2)[0] for vectors in contexts.vectors])
        shares = principal_components(contexts.vectors[at], 2)[1]
        figure = map_figure(maps[at], contexts.texts, contexts.senses, ["", ""], f"senses-{len(contexts.texts)}")
        return {parts.chart: figure, parts.said: _said(view, contexts, at, float(shares.sum()))}

    def offer(view: View, source: str, word: str, sentences: str) -> Updates:
        """The words there are to choose from; the chosen one stays when it can."""
        texts, _ = _texts(view, source, sentences)
        words = sorted(contextuality.repeated_words(texts), key=lambda word: (len(word) < 4, len(word) < 3))
        first = source if source in words else next(iter(words), "")
        value = word if word in words else first
        return {
            parts.word: gr.update(choices=words, value=value),
            parts.sentences: gr.update(value=sentences, visible=source != ABOVE),
        }

    def choose(view: View, source: str, word: str, adjusted: bool, sentences: str) -> Updates:
        sentences = senses().get(source, sentences)
        updates = offer(view, source, "", sentences)
        return updates | draw(view, source, updates[parts.word]["value"], adjusted, sentences)

    def show(view: View, source: str, word: str, adjusted: bool, sentences: str) -> Updates:
        updates = offer(view, source, word, sentences)
        return updates | draw(view, source, updates[parts.word]["value"], adjusted, sentences)

    page.on([parts.source.input], choose, [parts.word, parts.sentences, *drawn], controls)
    page.on([parts.word.input, parts.adjusted.input], draw, drawn, controls)
    page.on([parts.sentences.change], draw, drawn, controls, **typed_in(parts.sentences))
    return Piece(parts.column, controls, [parts.word, parts.sentences, *drawn], show, draw)


TOLD = (
    "The mean cosine between the word's vectors, at every hidden state: in one sense, and in two different ones. Where the "
    "lines part, the model tells the senses apart. A static vector would be the same in all sentences: the flat line at 1. "
    "Controls are other words that occur in several of the sentences."
)
TOLD_PAIR = (
    "The cosine between the word's vectors in its contexts, at every hidden state (the mean, when there are more than two). "
    "A static vector would be the same in all of them: the flat line at 1. Controls are other words that occur in both."
)


@functools.cache
def senses() -> dict[str, str]:
    """Ready examples: for each word its sentences, one a line, with the sense after a |."""
    with (EXAMPLES / "senses.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    words = dict.fromkeys(row["word"] for row in rows)
    return {w: "\n".join(f"{row['text']} | {row['label']}" for row in rows if row["word"] == w) for w in words}


def _texts(view: View, source: str, sentences: str) -> tuple[list[str], list[str]]:
    if source == ABOVE:
        texts = [text for text in (view.text_a, view.text_b) if text and text.strip()]
        return texts, [""] * len(texts)
    texts, labels = read_lines(sentences)
    return check_texts(texts, MAX_COMPARED), labels


def _contexts(view: View, texts: list[str], labels: list[str], word: str) -> Contexts:
    """Every occurrence of the word in the texts, each read by itself; texts without it are left out."""
    vectors, found, kept = [], [], []
    for number, (text, label) in enumerate(zip(texts, labels, strict=True), start=1):
        trace = view.model.trace(text)
        try:
            occurrences = contextuality.find_word(text, word, trace.offsets, f"sentence {number}")
        except InputError:
            continue
        for tokens in occurrences:
            vectors.append(contextuality.word_vectors(trace.hidden_states, tokens))
            found.append(text)
            kept.append(label)
    if len(vectors) < 2:
        shown = f"The word {word.strip()[:40]!r} occurs" if word and word.strip() else "No word occurs"
        raise InputError(f"{shown} fewer than twice here; choose other sentences or another word.")
    return Contexts(np.stack(vectors, axis=1), found, kept)


def _lines(view: View, contexts: Contexts, texts: list[str], word: str, adjusted: bool) -> object:
    from explorer.model import reference  # loads torch

    random = contextuality.anisotropy(reference.tokens(view.model))
    within, between = contextuality.within_and_between(contexts.vectors, contexts.senses)
    controls = []
    for other in contextuality.repeated_words(texts):
        if other != word.strip().casefold() and len(controls) < MOST_CONTROLS:
            same = _contexts(view, texts, [""] * len(texts), other)
            controls.append((other, contextuality.self_similarity(same.vectors)))
    if np.isnan(between).all():
        named = [(f"‘{word}’", within)]
    else:
        named = [(f"‘{word}’, two senses", between), (f"‘{word}’, one sense", within)]
    return context_lines([item for item in named if not np.isnan(item[1]).any()], word, controls, random, adjusted)


def _said(view: View, contexts: Contexts, at: int, share: float) -> str:
    from explorer.model import reference  # loads torch

    vectors = contexts.vectors[at]
    alike = contextuality.self_similarity(vectors[None])[0]
    random = mean_of_pairs(contextuality.cosine_matrix(reference.tokens(view.model)[at]))
    number = len(vectors)
    text = f"One point a sentence, in {layer_name(at)}: the two directions of most variance hold {share:.0%} of it. "
    if len(set(contexts.senses)) > 1:
        right = contextuality.told_apart(vectors, contexts.senses)
        text += f"For **{right} of {number}** the nearest, by cosine in all dimensions, has the same sense. "
    elif number == 2:
        text += f"The cosine between the two is {cosines(vectors[0], vectors[1]):.2f}. "
    return text + (
        f"Self-similarity {alike:.2f} (mean cosine of the contexts), minus the {random:.2f} of random tokens: "
        f"**{alike - random:.2f}** (Ethayarajh 2019)."
    )
