"""How the page is wired, read off the app as it is built."""

from collections import Counter

import pytest


@pytest.fixture(scope="module")
def blocks():
    import app

    return app.build()


def test_an_id_names_one_component(blocks):
    named = Counter(block.elem_id for block in blocks.blocks.values() if getattr(block, "elem_id", None))
    assert not [name for name, count in named.items() if count > 1]
