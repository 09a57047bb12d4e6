"""Search the guide: sections where every search word begins some word."""

import re
from dataclasses import dataclass

from explorer.guide.pages import Page, pages
from explorer.guide.rendering import Section, beginning

LONGEST, WORDS = 100, 8  # characters and words of a query that are read
MOST = 30  # sections that are listed
AROUND = 110  # characters of the excerpt before and after the first word


@dataclass(frozen=True)
class Hit:
    """A section with all the words, and an excerpt."""

    page: Page
    section: Section
    excerpt: str


def words_of(question: str) -> list[str]:
    """The words of a query, in lower case, without duplicates."""
    return list(dict.fromkeys(question[:LONGEST].lower().split()))[:WORDS]


def search(question: str) -> list[Hit]:
    """The sections with every word in heading or text; those with words in the heading come first."""
    words = words_of(question)
    patterns = [re.compile(beginning([word]), re.IGNORECASE) for word in words]
    found = []
    for page in pages().values():
        for section in page.sections:
            in_heading, in_text = ([len(pattern.findall(text)) for pattern in patterns] for text in (section.title, section.text))
            if words and all(map(max, zip(in_heading, in_text, strict=True))):
                often = sum(in_text) / (100 + len(section.text))
                found.append((-sum(map(bool, in_heading)), -often, Hit(page, section, _excerpt(section.text, words))))
    return [hit for *_, hit in sorted(found, key=lambda one: one[:2])[:MOST]]


def _excerpt(text: str, words: list[str]) -> str:
    first = re.search(beginning(words), text, re.IGNORECASE)
    middle = first.start() if first else 0
    start, end = max(0, middle - AROUND), middle + AROUND
    cut = text[start:end]
    if start:
        cut = "… " + cut.partition(" ")[2]
    return cut.rpartition(" ")[0] + " …" if end < len(text) else cut
