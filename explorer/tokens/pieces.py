"""The input as BERT reads it: every piece with its numbers, and the vectors that are summed for its embedding."""

from typing import Any

import numpy as np

from explorer.analysis.similarity import cosines
from explorer.techniques.inside import EmbeddingParts, embedding_parts
from explorer.text.encoding import Encoding
from explorer.text.pieces import meanings
from explorer.ui.layout import col, row
from explorer.ui.pictures.base import join_names
from explorer.ui.pictures.numbers import beside
from explorer.ui.pictures.strip_table import FIRST_NUMBERS, Column, Row, strip_table
from explorer.ui.pictures.token_row import token_row_of
from explorer.ui.subject import Subject
from explorer.ui.telling import quote
from explorer.ui.view import Content, Finding, View, check, heading, matches, part, prose, sentence

MOST_SPELLED = 6
NAMED = ("special", "mask", "unk")  # kinds of tokens shown by a name, not by their spelling


class Pieces(View):
    name, question = "tokens/pieces", "What does BERT read?"
    fold = "As lists, for transformers"
    cards = part("tokens", detail=True)
    counts = sentence()
    casing = sentence(optional=True)
    help = prose(classes="caption")
    lists = part("code", lines=3, max_lines=6, more=True)

    def compute(self, subject: Subject) -> Content:
        encoding, segments = subject.trace.encoding, subject.model.capabilities.segments
        marks = meanings([piece for piece, kind in zip(encoding.tokens, encoding.kinds, strict=True) if kind not in NAMED])
        if "unk" in encoding.kinds:
            marks.append(f"`{encoding.unknown}` replaces a word that the vocabulary cannot spell")
        about = "0 for A and 1 for B" if segments else "the same for all, since this model has none"
        lists = {"input_ids": subject.trace.ids, "token_type_ids": encoding.segments, "attention_mask": encoding.attention_mask}
        if not segments:
            del lists["token_type_ids"]
        count = len(_words(encoding))
        words = f"{count} word{'s' * (count != 1)}"
        counts = f"{encoding.kept} tokens of a vocabulary of {subject.model.capabilities.vocab_size:,}, for {words}"
        if encoding.total > encoding.kept:
            counts = f"{encoding.kept} of {encoding.total} tokens kept, for {words}: this model reads no more"
        if unknown := subject.trace.ids.count(subject.model.tokenizer.unk_token_id):
            counts += f"; {unknown} unknown"
        return {
            "cards": token_row_of(encoding, subject.selection.token, detail=True),
            "counts": f"{counts}.",
            "casing": subject.model.casing,
            "help": f"BERT reads pieces, not words{': ' * bool(marks)}{', '.join(marks)}. **id** is the number of the piece in "
            f"the vocabulary, **segment** {about}, **position** the place in the input, and **mask** is 1 where BERT may look. "
            "Point at a piece to see the characters and the word it came from.",
            "lists": "\n".join(f"{name} = {list(numbers)}" for name, numbers in lists.items()),
        }

    def finding(self, subject: Subject) -> Finding:
        encoding, words = subject.trace.encoding, _words(subject.trace.encoding)
        longest = max(words, key=len, default=())
        if len(longest) > 1:
            pieces = ", ".join(f"“{encoding.tokens[token]}”" for token in longest[:MOST_SPELLED])
            read = f"“{encoding.word(longest)}” is read as {pieces}{', …' * (len(longest) > MOST_SPELLED)}"
            return Finding(f"One word to you, {len(longest)} pieces to BERT: {read}.")
        if unknown := encoding.kinds.count("unk"):
            some = f"{unknown} of the {len(words)} words here" if len(words) > 1 else "the only word here"
            return Finding(f"The vocabulary cannot spell {some}: BERT reads {encoding.unknown} for each.")
        adds = f"the tokenizer adds {encoding.kept - len(encoding.text_positions)} tokens of its own"
        if not words:
            return Finding(f"The input consists of punctuation or blanks, without a word; {adds}.")
        whole = "The only word here is" if len(words) == 1 else f"All {len(words)} words here are"
        return Finding(f"{whole} in the vocabulary as a whole; {adds}.")


class Embeddings(View):
    name, question = "tokens/embeddings", "Which vectors are added up for each token?"
    layout = (row(col("sum", "check", "about_numbers", "numbers", width=2), col("norms", "help", width=3)),)
    sum = part("strips")
    check = check()
    about_numbers = heading(f"**The first {FIRST_NUMBERS} numbers** of the token's vectors")
    numbers = part("strips", classes="compact", height=165)
    norms = part("strips", classes="compact", height=440, sortable=True)
    help = prose(classes="caption")

    def finding(self, subject: Subject) -> Finding:
        """The summands of the selected token, and their lengths."""
        parts, token = embedding_parts(subject.trace), subject.token
        lengths = {name: float(np.linalg.norm(part[token])) for name, part in parts.added.items()}
        named = join_names([f"its {name} (length {length:.2f})" for name, length in lengths.items()])
        start = "a single vector" if len(lengths) == 1 else f"the sum of {len(lengths)} vectors"
        return Finding(f"{quote(subject.trace.tokens, token)} starts as {start}: {named}.")

    def compute(self, subject: Subject) -> Content:
        parts, token, tokens = embedding_parts(subject.trace), subject.token, subject.trace.tokens
        vectors = {**parts.added, "sum": parts.total, "LayerNorm": parts.normed}
        signs = ["", *["+ "] * (len(parts.added) - 1), "= ", ""]  # before each of them
        titles, columns = zip(signs, vectors, strict=True), [Column("", "name", name="dimension")]
        columns += [Column(sign + name, "number", form=".4f", name=name.lower()) for sign, name in titles]
        first = np.stack([vector[token, :FIRST_NUMBERS] for vector in vectors.values()], axis=1)  # [FIRST_NUMBERS, columns]
        numbers = [Row([str(place), *row]) for place, row in enumerate(first, start=1)]
        lengths = [np.linalg.norm(part, axis=-1) for part in vectors.values()]
        measured = np.stack([*lengths, *(cosines(parts.total, part) for part in parts.added.values())], axis=1)
        heads = [Column("token", "name"), Column("#", "number", name="position")]
        heads += [Column(f"length of {name}", "number", form=".2f", name=f"norm_{name.lower()}") for name in vectors]
        heads += [Column(f"sum to {name}, cosine", "number", form=".2f", name=f"cosine_{name}") for name in parts.added]
        every = [Row([name, place, *row]) for place, (name, row) in enumerate(zip(tokens, measured, strict=True))]
        return {
            "sum": _sum(subject, parts),
            "check": matches(parts.error, f"{_formula(parts)} is hidden state 0 for all tokens", 1e-5),
            "numbers": strip_table(columns, numbers, f"the first {len(first)} numbers of what is added up for one token"),
            "norms": strip_table(heads, every, "norms and cosines of what is added up"),
            "help": _help(subject, parts),
        }


def _words(encoding: Encoding) -> list[list[int]]:
    """The tokens of each word of the texts: neither a punctuation mark that the model knows nor a blank."""
    words = [(group, encoding.kinds[group[0]]) for group in encoding.text_words]
    return [group for group, kind in words if kind != "mask" and (kind == "unk" or any(map(str.isalnum, encoding.word(group))))]


def _formula(parts: EmbeddingParts) -> str:
    normed = f"LayerNorm({' + '.join(parts.added)})"
    return normed if parts.projected is None else f"W · {normed} + b"


def _help(subject: Subject, parts: EmbeddingParts) -> str:
    has = subject.model.capabilities
    said = [f"{_formula(parts)} is hidden state 0 (Devlin et al. 2019, figure 2)."]
    if not has.positions:
        said.append("The position has no vector: each layer turns queries and keys by their place instead.")
    if not has.segments:
        segment = "is the same for every token" if "segment" in parts.added else "has no vector"
        said.append(f"The segment {segment}: this model was trained without segments.")
    if parts.projected is not None:
        narrow, wide = parts.normed.shape[1], parts.projected.shape[1]
        said.append(f"The embeddings are {narrow} numbers wide, the layers {wide}: a matrix W maps the one to the other.")
    said.append(
        "Lengths are Euclidean and do not add up, since the vectors point in different directions. The cosine (−1 to 1) of the "
        "sum to each part shows how much of the sum points that way."
    )
    return " ".join(said)


def _sum(subject: Subject, parts: EmbeddingParts) -> dict[str, Any]:
    trace, token, encoding, model = subject.trace, subject.token, subject.trace.encoding, subject.model
    segment, position = encoding.segments[token], encoding.positions[token]
    about = {
        "token": (trace.tokens[token], trace.ids[token]),
        "position": (position, position + model.first_position),
        "segment": ("AB"[segment], segment * model.capabilities.segments),
    }  # and the row in its table
    columns = [Column(f"token {token}", "name", name="part"), Column("its vector", "strip", name="value")]
    columns.append(Column("length", "number", form=".2f", name="norm"))
    strips = {"{}{}: {} (row {:,})".format("+ " * (name != "token"), name, *about[name]): of for name, of in parts.added.items()}
    strips |= {"= sum": parts.total, "LayerNorm": parts.normed}
    if parts.projected is not None:
        strips["W · … + b"] = parts.projected
    strips["hidden state 0"] = trace.hidden_states[0]
    rows = [Row([name, of[token], np.linalg.norm(of[token])], strong=name == "hidden state 0") for name, of in strips.items()]
    return beside(strip_table(columns, rows, "what is added up for one token"), position=token, token=trace.tokens[token])
