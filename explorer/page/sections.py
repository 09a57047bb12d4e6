"""Navigation to every view: the sections above the tabs, and the searchable list."""

from typing import Any

from explorer.tabs import SECTIONS
from explorer.ui.tabs import views_in

NEEDS = {
    "fill_mask": "a model that fills blanks",
    "next_sentence": "a model that judges whether B follows A",
    "own_head": "a model with a head of its own",
}
"""What a tab needs of the model, after the word 'needs'."""


def sections() -> dict[str, Any]:
    """The component's value: the `sections` with their tabs' ids, and every view with its question, tab and choice."""
    views = [
        {"question": view.question, "tab": tab.label, "choice": choice, "needs": NEEDS.get(tab.needs or "", "")}
        for tabs in SECTIONS.values()
        for tab in tabs
        for choice, rows in {"": [list(tab.above)] if tab.above else [], **tab.choices}.items()
        for view in views_in(rows)
    ]
    return {"sections": [{"label": label, "tabs": [tab.id for tab in tabs]} for label, tabs in SECTIONS.items()], "views": views}


def section_style() -> str:
    """A style sheet that shows only the tabs of the open section, whose number is the body's `data-section`."""
    rules = []
    for number, tabs in enumerate(SECTIONS.values()):
        own = ", ".join(f"#tab-{tab.id}-button" for tab in tabs) if len(tabs) > 1 else "[data-none]"
        rules.append(f'body[data-section="{number}"] #tabs [role=tab]:not({own}) {{ display: none; }}')
    return "\n".join(rules)
