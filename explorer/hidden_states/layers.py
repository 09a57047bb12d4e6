"""The vectors of one hidden state, and the change of every token in every layer."""

import csv

import numpy as np

from explorer.analysis.similarity import cosine_matrix, cosines, mean_of_pairs
from explorer.bert.explorer import Explorer
from explorer.bert.features import ANY_TOKEN, layer_features_in_steps
from explorer.core.paths import EXAMPLES
from explorer.core.steps import finished
from explorer.text.lines import read_lines
from explorer.ui.long_view import reads_quickly
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.pictures.heatmaps import similarity_heatmap
from explorer.ui.pictures.hidden import by_layer_heatmap, vectors_heatmap
from explorer.ui.pictures.strip_table import FIRST_NUMBERS, Column, Row, number_columns, strip_table
from explorer.ui.settings import choice
from explorer.ui.subject import Subject
from explorer.ui.telling import TURNED, quote, two_places
from explorer.ui.view import Content, Finding, View, Why, chart, check, max_error, part, prose, verdict

STEP, DRIFT, NORM = "Change per layer", "Away from the embedding", "Norm"
MEANINGS = {
    STEP: "Cosine distance (1 − cosine, 0 to 2) between a token's vector and the same token's vector in the layer before: how "
    "much each layer turns that vector. Row 1 compares layer 1 with the embeddings.",
    DRIFT: "Cosine distance (1 − cosine, 0 to 2) between a token's vector and its own embedding, hidden state 0.",
    NORM: "The Euclidean length of every token's vector at every hidden state. Where one token is much longer than the rest, a "
    "few dimensions may have grown large.",
}
UNRELATED = 100  # sentences, to judge the similarity of two vectors by
UNRELATED_TOKENS = 1_500  # in them, about


def anisotropy(model: Explorer) -> np.ndarray:
    """[layers + 1]: the mean cosine of one token of each of UNRELATED sentences, examples that ship with the app.

    It is the baseline above which a similarity means something (Ethayarajh 2019).
    """
    texts, _ = read_lines((EXAMPLES / "topics.txt").read_text("utf-8"))
    with (EXAMPLES / "sentiment.csv").open(encoding="utf-8", newline="") as file:
        texts += [row["text"] for row in csv.DictReader(file)]
    states = finished(layer_features_in_steps(model, texts[:UNRELATED], ANY_TOKEN))
    return np.array([mean_of_pairs(cosine_matrix(vectors)) for vectors in states])


def layer_name(layer: int) -> str:
    return "the embedding output" if layer == 0 else f"the output of layer {layer}"


def measure_turning(subject: Subject) -> tuple[np.ndarray, int]:
    """The change of each token in each layer, [layers, tokens], 1 − cosine, and the layer with the largest mean, from 1."""
    states = subject.trace.hidden_states
    changes = 1 - cosines(states[1:], states[:-1])
    return changes, int(changes.mean(axis=1).argmax()) + 1


def _find_turned_most(subject: Subject, layer: int) -> tuple[int, int]:
    """The token of the texts that a layer, counted from 1, changes most, and among how many; punctuation only if it is alone."""
    encoding = subject.trace.encoding
    written = [token for token in encoding.text_positions if any(map(str.isalnum, encoding.tokens[token]))]
    words = written or list(encoding.text_positions)
    return words[int(measure_turning(subject)[0][layer - 1, words].argmax())], len(words)


class OneLayer(View):
    name, question = "hidden/one-layer", "How similar are the token vectors of one layer?"
    title = prose(classes="detail-title")
    picture = chart("The tokens at one hidden state", height=440)
    about = prose(classes="caption")

    def first(self, subject: Subject) -> Subject:
        return subject if subject.chosen.picked else subject.select(layer=measure_turning(subject)[1], picked=False)

    def finding(self, subject: Subject) -> Finding:
        """How much the selected layer changes the tokens, and which token most."""
        changes, most = measure_turning(subject)
        at, tokens = subject.selection.layer, subject.trace.tokens
        if at == 0:
            by = f"{two_places(float(changes[most - 1].mean()))} on average {TURNED}"
            return Finding(f"No layer has mixed anything yet. Layer {most} will change the tokens' vectors most: {by}.")
        token, words = _find_turned_most(subject, at)
        mean, own = (two_places(float(value)) for value in (changes[at - 1].mean(), changes[at - 1, token]))
        lead = f"Layer {at} changes the {len(tokens)} vectors{' most' * (at == most)} (mean {mean})"
        kind = "word tokens" if words < len(subject.trace.encoding.text_positions) else "tokens of the text"
        among, best = (f"of {words} {kind} ", " most") if words > 1 else ("", "")
        text = f"{lead}, and {among}{quote(tokens, token)}{best} ({own}) {TURNED}."
        return Finding(text, Why("inside-head", "The whole layer", {"layer": at, "token": token}))

    def compute(self, subject: Subject) -> Content:
        at, model = subject.selection.layer, subject.model
        matrix, where = cosine_matrix(subject.trace.hidden_states[at]), layer_name(at)
        mean = f"{mean_of_pairs(matrix):.2f}"
        about = f"Cosine between the vectors of every two tokens in {where} (−1 to 1); their mean here is {mean}."
        if reads_quickly(model.capabilities, UNRELATED_TOKENS):
            about += (
                f" Tokens of unrelated sentences already average **{anisotropy(model)[at]:.2f}** (the layer's anisotropy, "
                "Ethayarajh 2019), so read each value relative to that."
            )
        picture = similarity_heatmap(matrix, subject.trace.tokens)
        return {"title": f"**Similarity** of every two tokens, in {where}", "picture": picture, "about": about}


class EveryLayer(View):
    name, question = "hidden/every-layer", "What does each layer do to each token?"
    title = prose(classes="detail-title")
    picture = chart("Every token at every hidden state", height=440)
    measure: str = choice(tuple(MEANINGS))
    about = prose(classes="caption")

    def compute(self, subject: Subject) -> Content:
        at, states, tokens = subject.selection.layer, subject.trace.hidden_states, subject.trace.tokens
        if self.measure == NORM:
            picture = by_layer_heatmap(np.linalg.norm(states, axis=-1), tokens, 0, "norm")
        else:
            values = 1 - cosines(states[1:], states[:-1] if self.measure == STEP else states[:1])
            cell = (at, _find_turned_most(subject, at)[0]) if self.measure == STEP and at else None
            picture = by_layer_heatmap(values, tokens, 1, "cosine distance", cell)
        return {"title": f"**{self.measure}**, for every token", "picture": picture, "about": MEANINGS[self.measure]}


class FirstNumbers(View):
    name, question = "hidden/first-numbers", "What are the first ten numbers of each vector?"
    folded = "The first ten numbers of each vector"
    numbers = part("strips", classes="compact", height=300)

    def compute(self, subject: Subject) -> Content:
        at, model = subject.selection.layer, subject.model
        rows = list(zip(subject.trace.tokens, subject.trace.hidden_states[at], strict=True))
        if not model.why_not("pooler"):
            rows.append(("pooled output", subject.trace.pooler_output()))
        columns = [Column(f"hidden state {at}", "name", name="token"), *number_columns()]
        cells = [Row([name, *vector[:FIRST_NUMBERS]], strong=name == "pooled output") for name, vector in rows]
        return {"numbers": strip_table(columns, cells, f"the first {FIRST_NUMBERS} numbers of each vector")}


class PooledOutput(View):
    name, question = "hidden/pooled", "What is the pooled output?"
    folded = "More: [CLS] and the pooled output"
    picture = chart("[CLS] and the pooled output", height=190)
    formula = prose(classes="caption")
    check = check()

    def compute(self, subject: Subject) -> Content:
        model, last = subject.model, subject.trace.hidden_states[-1, 0]
        if why := model.why_not("pooler"):
            return {"picture": None, "formula": why, "check": ""}
        vector, proof = subject.trace.pooler_output(), dict[str, str]()
        formula = "The pooled output of this model is the last hidden state of [CLS] itself: its pooler has no weights."
        if model.pooler_weights is not None:
            weight, bias = model.pooler_weights
            error = float(np.abs(np.tanh(weight @ last + bias) - vector).max())
            proof = verdict(error < 1e-4, f"this formula against the model's pooler, {max_error(error)}")
            large = whole_percent(float((np.abs(vector) > 0.95).mean()))
            formula = (
                f"pooled = tanh(W · h + b): h is the last hidden state of [CLS], W is {len(last)} × {len(last)}. Some tutorials "
                "call this a layer normalisation; it is a dense layer and a tanh, which brings every value between −1 and 1. It "
                "was trained for next-sentence prediction, not as a summary. Cosine between the two: "
                f"{cosines(last, vector):.2f}; {large} of the pooled values are below −0.95 or above 0.95."
            )
        picture = vectors_heatmap(np.stack([last, vector]), ["[CLS], last layer", "pooled"], 1, "vector")
        return {"picture": picture, "formula": formula, "check": proof or ""}
