"""The pieces of one text in two tokenizers, or of two texts in one."""

from explorer.side_by_side.other import SideView
from explorer.text.encoding import Encoding
from explorer.ui.pictures.token_row import token_row_of
from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding, heading, part, sentence

MOST_NAMED = 8


class SidePieces(SideView):
    """The pieces on both sides, and the words that are cut differently."""

    name, question = "side-by-side/pieces", "Which pieces does each side read?"
    here_title = heading("**Here**")
    here = part("tokens", passive=True)
    there_title = heading("**There**")
    there = part("tokens", passive=True)
    about = sentence()

    def compute(self, subject: Subject) -> Content:
        here, there = subject.trace.encoding, self.other(subject).trace.encoding
        about = f"{here.kept} tokens here, {there.kept} there."
        if _texts(here) == _texts(there):
            differing = _cut_differently(here, there)
            named = "; ".join(differing[:MOST_NAMED]) or "none"
            more = f" and {len(differing) - MOST_NAMED} more" if len(differing) > MOST_NAMED else ""
            about += f" Words cut differently: {named}{more}."
        return {"here": token_row_of(here), "there": token_row_of(there), "about": about}

    def finding(self, subject: Subject) -> Finding | None:
        """For one text the word whose number of pieces differs most, for two texts the first piece that differs."""
        here, there = subject.trace.encoding, self.other(subject).trace.encoding
        if _texts(here) != _texts(there):
            return _first_difference(here, there)
        words = {_place(there, group): len(group) for group in there.text_words}
        paired = [(group, words.get(_place(here, group), 0)) for group in here.text_words]
        counts = [(len(group), other, here.word(group)) for group, other in paired if other]
        mine, yours, word = max(counts, key=lambda count: abs(count[0] - count[1]), default=(0, 0, ""))
        if mine == yours:
            return None
        return Finding(f"“{word}” is read as {_pieces(mine)} here and as {_pieces(yours)} there.")


def _texts(encoding: Encoding) -> tuple[str, str]:
    return encoding.text_a, encoding.text_b


def _first_difference(here: Encoding, there: Encoding) -> Finding | None:
    """The first piece that differs, if both inputs have the same number of tokens."""
    others = [place for place, (mine, yours) in enumerate(zip(here.tokens, there.tokens, strict=False)) if mine != yours]
    if here.kept != there.kept or not others:
        return None
    first = others[0]
    same = f"{here.kept - len(others)} of {here.kept} pieces are the same"
    return Finding(f"{same}; token {first} is “{here.tokens[first]}” here and “{there.tokens[first]}” there.")


def _pieces(count: int) -> str:
    return f"{count} piece{'s' * (count != 1)}"


def _cut_differently(here: Encoding, there: Encoding) -> list[str]:
    """Words with different boundaries of pieces: 'walk | ing here, walking there'."""
    words = {_place(there, group): _cut(there, group) for group in there.text_words}
    found = []
    for group in here.text_words:
        cut, other = _cut(here, group), words.get(_place(here, group))
        if other is not None and cut != other:
            found.append(f"{' | '.join(cut)} here, {' | '.join(other)} there")
    return list(dict.fromkeys(found))


def _place(encoding: Encoding, group: list[int]) -> tuple[int, int, int]:
    """The text to which a word belongs, and its characters [start, end)."""
    starts, ends = zip(*(encoding.offsets[token] for token in group), strict=True)
    return encoding.sequences[group[0]], min(starts), max(ends)


def _cut(encoding: Encoding, group: list[int]) -> tuple[str, ...]:
    """The text of each piece of a word, as typed."""
    text = _texts(encoding)[encoding.sequences[group[0]]]
    spans = dict.fromkeys(encoding.offsets[token] for token in group)
    return tuple(text[start:end] for start, end in spans if text[start:end].strip())
