"""The rules of who runs when: they are where their page says, and a full queue refuses."""

import asyncio
import re
from pathlib import Path

import pytest

from explorer.base import scheduling
from explorer.base.errors import BusyError
from explorer.base.limits import WAITING
from explorer.base.scheduling import FairQueue
from tests.waiting import waited

EXPLORER = Path(scheduling.__file__).parents[1]


def test_the_page_of_rules_names_modules_that_exist():
    named = set(re.findall(r"`(\w+)\.(\w+)(?:\.\w+)?`", scheduling.__doc__)) - {("app", "launch")}
    assert len(named) >= 8
    missing = [f"{folder}.{module}" for folder, module in named if not (EXPLORER / folder / f"{module}.py").is_file()]
    assert not missing


def test_every_handler_is_of_a_kind_of_the_rules():
    from explorer import app

    known = (scheduling.MODEL, scheduling.LOADING, scheduling.AT_ONCE, *scheduling.LONG_WORK)
    kinds = {kind["concurrency_id"]: kind["concurrency_limit"] for kind in known}
    for function in app.build().fns.values():
        if function.fn is not None:
            assert function.concurrency_id in kinds, f"{function.name} is of no kind"
            assert function.concurrency_limit == kinds[function.concurrency_id]


def test_what_finds_too_many_waiting_is_refused_and_takes_no_place(monkeypatch):
    monkeypatch.setenv(WAITING.setting, "1")
    queue = FairQueue(1)

    async def hold(released):
        async with queue.place():
            await released.wait()

    async def calls():
        released = asyncio.Event()
        first = asyncio.ensure_future(hold(released))
        await asyncio.sleep(0)
        second = asyncio.ensure_future(hold(released))
        await asyncio.sleep(0)
        with pytest.raises(BusyError) as caught:
            await hold(released)
        released.set()
        await asyncio.gather(first, second)
        await hold(released)
        return str(caught.value)

    assert waited(calls()) == WAITING.tell()
