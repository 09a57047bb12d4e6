"""Checks of the run ids that a browser sends, which can be anything."""

from explorer.core.limits import VISITOR_RUNS
from explorer.finetune.compute import store


def run_id(value: object) -> str | None:
    """The id of a run if the value has its form, else None."""
    return value if store.is_id(value) else None


def run_ids(value: object) -> tuple[str, ...]:
    """The run ids in a list that a browser has stored, the newest first."""
    found = value[: VISITOR_RUNS.most] if isinstance(value, list | tuple) else ()
    return tuple(dict.fromkeys(one for one in found if run_id(one)))


def visitor_id(value: object) -> str:
    """The id that identifies a browser's runs, or a new one if the value is invalid."""
    return run_id(value) or store.new_id()
