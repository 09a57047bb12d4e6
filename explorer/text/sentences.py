"""Where the sentences of a text begin, by a rule short enough to be explained.

A sentence ends at . ! ? … ؟ ۔ or । before whitespace, at 。！？ or ｡ anywhere, and at an empty line; closing quotes and brackets
belong to it. A full stop after a single letter ('J. Smith', 'e.g.') or a common abbreviation ('Dr.') does not end it.
"""

import re

_MARKS, _WIDE, _CLOSING = ".!?…؟۔।", "。！？｡", "\"'”’»)\\]」』）"
_END = re.compile(rf"(?<![{_MARKS}])[{_MARKS}]++[{_CLOSING}]*+\s++|(?<![{_WIDE}])[{_WIDE}]++[{_CLOSING}]*+\s*+|\n[^\S\n]*+\n\s*+")
_ABBREVIATION = re.compile(r"\b(?:[^\W\d_]|mr|mrs|ms|dr|prof|st|jr|sr|vs|cf|fig|vol|approx)\.$", re.IGNORECASE)


def sentence_starts(text: str) -> list[int]:
    """The characters at which the sentences of a text begin; the first is always 0."""
    starts = [0]
    for end in _END.finditer(text):
        stop = end.start() + 1
        if end[0].rstrip() == "." and _ABBREVIATION.search(text, max(0, stop - 8), stop):
            continue
        if end.end() < len(text) and text[starts[-1] : end.start()].strip():
            starts.append(end.end())
    return starts
