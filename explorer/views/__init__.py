"""The tabs, in their order on the page; each has a folder, and each view in it a class."""

from collections.abc import Mapping

from explorer.views import (
    attention,
    corpus,
    experiments,
    fill_mask,
    finetune,
    hidden_states,
    inside_head,
    model,
    next_sentence,
    overview,
    own_head,
    projection,
    side_by_side,
    tokens,
)
from explorer.views.view import Tab

SECTIONS: Mapping[str, tuple[Tab, ...]] = {
    "Overview": (overview.TAB,),
    "Look inside": (tokens.TAB, attention.TAB, inside_head.TAB, hidden_states.TAB),
    "Ask": (fill_mask.TAB, next_sentence.TAB, own_head.TAB),
    "Beyond one sentence": (projection.TAB, corpus.TAB, side_by_side.TAB, experiments.TAB),
    "Teach it": (finetune.TAB,),
    "The model": (model.TAB,),
}
"""The tabs by what a person wants, in their order on the page."""
TABS = tuple(tab for tabs in SECTIONS.values() for tab in tabs)
FIRST_TAB = overview.TAB.id  # what a page opens with
VIEWS = {view.name: view for tab in TABS for view in tab.views}
