"""Where the sentences of a text begin, by a rule that is short enough to be told.

A sentence ends at . ! ? … ؟ ۔ or । before a blank, at 。！？ or ｡ wherever they stand, and at an empty line; quotes and brackets
that close belong to it. A full stop after a single letter ('J. Smith', 'e.g.') or a common abbreviation ('Dr.') ends none.
"""

import re

_MARKS, _WIDE, _CLOSING = ".!?…؟۔।", "。！？｡", "\"'”’»)\\]」』）"
_END = re.compile(rf"(?<![{_MARKS}])[{_MARKS}]++[{_CLOSING}]*+\s++|(?<![{_WIDE}])[{_WIDE}]++[{_CLOSING}]*+\s*+|\n[^\S\n]*+\n\s*+")
_ABBREVIATION = re.compile(r"\b(?:[^\W\d_]|mr|mrs|ms|dr|prof|st|jr|sr|vs|cf|fig|vol|approx)\.$", re.IGNORECASE)


def sentence_starts(text: str) -> list[int]:
    """The characters that the sentences of a text start at; the first is always 0."""
    starts = [0]
    for end in _END.finditer(text):
        stop = end.start() + 1
        if end[0].rstrip() == "." and _ABBREVIATION.search(text, max(0, stop - 8), stop):
            continue
        if end.end() < len(text) and text[starts[-1] : end.start()].strip():
            starts.append(end.end())
    return starts
