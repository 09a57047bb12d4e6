"""What takes minutes and rarely fails, for `pytest tests/nightly`; a fast test of the suite covers the same in part."""

from tests.browser.conftest import browser, kept, new_page, open_app, page, pytest_runtest_makereport, soon_done
from tests.unit.conftest import elsewhere, write

__all__ = ["browser", "elsewhere", "kept", "new_page", "open_app", "page", "pytest_runtest_makereport", "soon_done", "write"]
