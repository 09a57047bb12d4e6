"""The tabs, in their order on the page; each has a folder, and each view in it a class."""

from explorer.views import attention, projection

TABS = (attention.TAB, projection.TAB)
VIEWS = {view.name: view for tab in TABS for view in tab.views}
