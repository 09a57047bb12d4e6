"""Write the guide's parts between `<!-- generated: NAME -->` and `<!-- end -->`: `python -m explorer.guide.generate`."""

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from explorer.analysis.head_metrics import ATLAS
from explorer.core import limits
from explorer.corpus import atlas_words
from explorer.corpus.compute.atlas_file import read
from explorer.endpoints import ENDPOINTS
from explorer.export.links import PARAMETERS
from explorer.guide.pages import FOLDER
from explorer.tabs import TABS
from explorer.teaching.lessons.reading import lessons
from explorer.ui.tabs import views_in

PART = re.compile(r"(<!-- generated: (.+?) -->\n).*?(?=<!-- end -->)", re.DOTALL)
FIRST_SENTENCE = re.compile(r".+?(?<! al)\.(?= |$)")  # OpenAPI has the whole docstring of an endpoint


def table(heading: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heading, ("---",) * len(heading), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines).replace("| --- ", "|---").replace("|--- |", "|---|")


def _row(endpoint: Callable[..., Any]) -> tuple[str, ...]:
    given = inspect.signature(endpoint).parameters.values()
    named = [arg.name if arg.default is arg.empty else f"{arg.name}={json.dumps(arg.default)}" for arg in given]
    about, _, returned = (inspect.getdoc(endpoint) or "").partition("\nReturns:\n")
    about, returned = (" ".join(text.split()).replace("|", "\\|") for text in (about, returned))
    first = FIRST_SENTENCE.match(about)
    answer = f"{first[0] if first else about} **Returns** {returned}"
    return f"`/{endpoint.__name__}`", f"`{', '.join(named)}`" if named else "", answer


def _questions() -> Iterator[tuple[str, Callable[[], str]]]:
    """The parts with the questions of the views of each choice, and of those above all choices of a tab."""
    for tab in TABS:
        above = [("", [tab.above])] if tab.above else []
        for choice, rows in [*above, *tab.choices.items()]:
            views = views_in(rows)
            heading = f"## {choice}\n\n" if choice and len(tab.choices) > 1 else ""
            yield f"asks {views[0].name}", partial(str, heading + "\n".join(f"- *{view.question}*" for view in views))


PARTS: dict[str, Callable[[], str]] = {
    "endpoints": lambda: table(("endpoint", "arguments", "what it answers"), map(_row, ENDPOINTS)),
    "evidence": lambda: f"> {atlas_words.evidence(read(ATLAS))}",
    "lessons": lambda: table(
        ("number", "lesson", "minutes"), ((str(lesson.number), lesson.title, str(lesson.minutes)) for lesson in lessons())
    ),
    "limits": limits.as_markdown,
    "parameters": lambda: table(("parameter", "what it says"), ((f"`{name}`", about) for name, about in PARAMETERS.items())),
    **dict(_questions()),
}


def fill_in(markdown: str) -> str:
    """A page's Markdown with its generated parts up to date. Raises KeyError for an unknown part."""
    return PART.sub(lambda found: f"{found[1]}{PARTS[found[2]]()}\n", markdown)


def main() -> None:
    for path in sorted(FOLDER.glob("*.md")):
        before = path.read_text("utf-8")
        if (after := fill_in(before)) != before:
            path.write_text(after, "utf-8")
            print(path.name)


if __name__ == "__main__":
    main()
