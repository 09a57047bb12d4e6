"""The rules of who runs when: they are where their page says, and places are given by them."""

import asyncio

import pytest

from explorer.core import scheduling
from explorer.core.limits import WAITING
from explorer.core.scheduling import Call, Places
from tests.waiting import waited


def test_every_handler_is_of_a_kind_of_the_rules(page):
    known = (scheduling.MODEL, scheduling.LOADING, scheduling.AT_ONCE, *scheduling.LONG_WORK)
    kinds = {kind["concurrency_id"]: kind["concurrency_limit"] for kind in known}
    for function in page[0].fns.values():
        if function.fn is not None:
            assert function.concurrency_id in kinds, f"{function.name} is of no kind"
            assert function.concurrency_limit == kinds[function.concurrency_id]


def played(play):
    """What a coroutine function does with a queue of 24 places; it is given the queue and `ask`, which lets a call hold one."""

    async def run():
        queue, answered, end = Places(24, WAITING), [], asyncio.Event()

        async def hold(call):
            async with queue.place(call):
                answered.append(call.address)
                await end.wait()

        async def ask(address, *others, times=1, **named):
            asked = [asyncio.ensure_future(hold(Call(address, *others, **named))) for _ in range(times)]
            for _ in range(5):
                await asyncio.sleep(0)
            return asked

        told = await play(queue, ask, answered)
        end.set()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.gather(task, return_exceptions=True)
        assert (len(queue), queue._held) == (0, [])
        return told

    return waited(run())


@pytest.mark.parametrize("session", [True, False])
def test_who_asks_for_much_leaves_places_to_those_elsewhere_and_programs_some_to_pages(session):
    async def play(queue, ask, answered):
        await ask("crowd", session, times=40)
        before = answered.count("crowd")
        await ask("crowd", True, times=5)
        more = answered.count("crowd")
        await ask("bystander", times=3)
        return before, more, answered.count("bystander")

    assert played(play) == (20 if session else 16, 20, 3)


def test_who_waits_in_numbers_leaves_others_to_wait():
    async def play(queue, ask, answered):
        crowd = await ask("crowd", times=100)
        refused = [str(one.exception()) for one in crowd if one.done()]
        for number in range(4):
            await ask(f"other {number}")
        return len(refused), set(refused), len(answered), len(queue)

    assert played(play) == (32, {WAITING.tell()}, 24, 48)


def test_a_free_place_goes_to_the_address_that_holds_the_fewest():
    async def play(queue, ask, answered):
        held = [one for address in "abcdef" for one in await ask(address, times=4)]
        await ask("a", times=2)
        await ask("late")
        held[-1].cancel()
        while len(answered) < 25:
            await asyncio.sleep(0.01)
        return answered[-1], [call.address for call in queue._waiting]

    assert played(play) == ("late", ["a", "a"])
