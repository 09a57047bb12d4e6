"""The tabs, in their order on the page; each has a folder, and each view in it a class."""

from explorer.views import (
    attention,
    hidden_states,
    inside_head,
    model,
    projection,
    tokens,
)

TABS = (
    tokens.TAB,
    attention.TAB,
    inside_head.TAB,
    hidden_states.TAB,
    projection.TAB,
    model.TAB,
)
VIEWS = {view.name: view for tab in TABS for view in tab.views}
