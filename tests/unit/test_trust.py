"""Hiding each piece in turn, beside a run of the changed input."""

import numpy as np
import pytest

from explorer.overview.compute import trust
from explorer.techniques import ablation, routes
from explorer.techniques.targets import is_next_target, own_reading, word_target


@pytest.mark.parametrize("name", ["bundled", "tiny"])
def test_losses_are_those_of_the_input_with_a_mask_and_shares_those_of_the_routes(name, request):
    model = request.getfixturevalue(name)
    trace = model.trace("The man went to the [MASK] slowly.", "He bought some milk!")
    blank = trace.mask_positions[0]
    for target in (word_target(trace), is_next_target(trace)):
        found = trust(trace, target)
        seen = [place for place in trace.encoding.text_positions if place != blank]
        assert list(found.places) == seen
        shares = routes.place_shares(routes.mixing(trace).shares, target.position)[0]
        np.testing.assert_array_equal(found.shares, shares[seen])
        whole = own_reading(trace, target)
        for at in (0, len(seen) - 1):
            without = own_reading(ablation.with_mask(trace, seen[at]), target)
            assert found.losses[at] == pytest.approx(float(whole.probability - without.probability), abs=1e-5)
            assert found.logit_losses[at] == pytest.approx(float(whole.logit - without.logit), abs=1e-3)
