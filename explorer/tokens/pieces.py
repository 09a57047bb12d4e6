"""The input as BERT reads it: every piece with its numbers."""

from explorer.text.encoding import Encoding
from explorer.text.pieces import meanings
from explorer.ui.pictures.token_row import token_row_of
from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding, View, part, prose, sentence

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
        cards = token_row_of(subject.trace.encoding, subject.selection.token, detail=True)
        return {
            "cards": cards,
            "counts": _counts(subject),
            "casing": subject.model.casing,
            "help": _help(subject),
            "lists": _lists(subject),
        }

    def finding(self, subject: Subject) -> Finding:
        encoding, words = subject.trace.encoding, subject.trace.encoding.text_words
        longest = max(words, key=len)
        if len(longest) > 1:
            pieces = [f"“{encoding.tokens[token]}”" for token in longest[:MOST_SPELLED]]
            listed = ", ".join(pieces) + (", …" if len(longest) > MOST_SPELLED else "")
            return Finding(f"One word to you, {len(longest)} pieces to BERT: “{encoding.word(longest)}” is read as {listed}.")
        if unknown := encoding.kinds.count("unk"):
            said = (
                f"The vocabulary cannot spell {unknown} of the {len(words)} words here: BERT reads {encoding.unknown} for each."
            )
            return Finding(said)
        added = encoding.kept - len(encoding.text_positions)
        count = len(_find_spoken(encoding))
        whole = "The only word here is" if count == 1 else f"All {count} words here are"
        return Finding(f"{whole} in the vocabulary as a whole; the tokenizer adds {added} tokens of its own.")


def _find_spoken(encoding: Encoding) -> list[list[int]]:
    """The words without punctuation marks, which are groups of their own; all groups if there is nothing else."""
    groups = encoding.text_words
    return [group for group in groups if any(map(str.isalnum, encoding.word(group)))] or groups


def _help(subject: Subject) -> str:
    encoding, segments = subject.trace.encoding, subject.model.capabilities.segments
    marks = meanings([piece for piece, kind in zip(encoding.tokens, encoding.kinds, strict=True) if kind not in NAMED])
    if "unk" in encoding.kinds:
        marks.append(f"`{encoding.unknown}` replaces a word that the vocabulary cannot spell")
    said = f"BERT reads pieces, not words{': ' if marks else ''}{', '.join(marks)}."
    about = "**segment** 0 for A and 1 for B" if segments else "**segment** the same for all, since this model has none"
    return (
        f"{said} **id** is the number of the piece in the vocabulary, {about}, **position** the place in the input, and "
        "**mask** is 1 where BERT may look. Point at a piece to see the characters and the word it came from."
    )


def _lists(subject: Subject) -> str:
    """What a tokenizer of transformers gives for the input, one list per line."""
    encoding, segments = subject.trace.encoding, subject.model.capabilities.segments
    lists = {
        "input_ids": subject.trace.ids,
        **({"token_type_ids": encoding.segments} if segments else {}),
        "attention_mask": [1] * encoding.kept,
    }
    return "\n".join(f"{name} = {list(numbers)}" for name, numbers in lists.items())


def _counts(subject: Subject) -> str:
    trace, encoding = subject.trace, subject.trace.encoding
    unknown = trace.ids.count(subject.model.tokenizer.unk_token_id)
    words = encoding.text_words
    count = len(_find_spoken(encoding))
    parts = [f"{trace.kept} tokens of a vocabulary of {subject.model.capabilities.vocab_size:,}, for {count} words"]
    if trace.encoding.total > trace.kept:
        parts = [f"{trace.kept} of {trace.encoding.total} tokens kept, for {count} words: this model reads no more"]
    if unknown:
        parts.append(f"{unknown} unknown")
    cut = [encoding.spelling(group) for group in words if len(group) > 1]
    if cut:
        more = f" and {len(cut) - MOST_SPELLED} more" if len(cut) > MOST_SPELLED else ""
        parts.append(f"in several pieces: {', '.join(cut[:MOST_SPELLED])}{more}")
    return "; ".join(parts) + "."
