"""The tabs, in their order on the page; each has a folder, and each view in it a class."""

from explorer.views import (
    attention,
    corpus,
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

TABS = (
    overview.TAB,
    tokens.TAB,
    attention.TAB,
    inside_head.TAB,
    hidden_states.TAB,
    fill_mask.TAB,
    next_sentence.TAB,
    own_head.TAB,
    projection.TAB,
    corpus.TAB,
    side_by_side.TAB,
    finetune.TAB,
    model.TAB,
)
FIRST_TAB = overview.TAB.id  # what a page opens with
VIEWS = {view.name: view for tab in TABS for view in tab.views}
