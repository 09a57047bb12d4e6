"""Words that are often swapped to test a model: one pronoun, profession or sense for another."""

import re

_PAIRS = (
    "japan/france he/she him/her his/her himself/herself man/woman men/women boy/girl father/mother son/daughter brother/sister",
    "king/queen doctor/nurse teacher/engineer dog/cat tired/wide happy/sad good/bad hot/cold big/small always/never",
    "everything/nothing river/money is/was are/were",
)
PAIRS = [tuple(pair.split("/")) for pair in " ".join(_PAIRS).split()]


def find_swaps(text: str) -> list[tuple[str, str, str]]:
    """(word, other word, the text with the word replaced everywhere), in the order in which the words occur."""
    found = []
    for word in dict.fromkeys(re.findall(r"\w+", text.casefold())):
        others = [second if word == first else first for first, second in PAIRS if word in (first, second)]
        found += [(word, other, put(text, word, other)) for other in others]
    return found


def put(text: str, word: str, other: str) -> str:
    """The text with a whole word replaced everywhere, with a capital where the old word had one."""

    def same_case(match: re.Match[str]) -> str:
        return other.capitalize() if match[0][:1].isupper() else other

    return re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", same_case, text, flags=re.IGNORECASE)
