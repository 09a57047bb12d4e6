"""What a browser remembers of its runs, checked: it may send anything."""

from explorer.base.limits import VISITOR_RUNS
from explorer.training import store


def run_id(value: object) -> str | None:
    """The id of a run, or None when that is none."""
    return value if store.is_id(value) else None


def run_ids(value: object) -> tuple[str, ...]:
    """The ids in what a browser remembers, the newest first."""
    found = value[: VISITOR_RUNS.most] if isinstance(value, list | tuple) else ()
    return tuple(dict.fromkeys(one for one in found if run_id(one)))


def visitor_id(value: object) -> str:
    """The id by which a browser's runs are told from those of others, or a new one when that is none."""
    return run_id(value) or store.new_id()
