import numpy as np

from explorer.text.masking import IGNORED, KEPT, MASKED, RANDOM, UNTOUCHED, choose_pieces, ordinary_ids, treat_pieces

MASK_ID = 3
RANDOM_IDS = np.arange(10, 500)


def example(rows: int = 8, tokens: int = 64):
    """A batch whose first and last pieces, and the padding of the second row, are special."""
    ids = np.arange(rows * tokens).reshape(rows, tokens) % 400 + 50
    special = np.zeros(ids.shape, dtype=bool)
    special[:, [0, -1]] = True
    special[1:2, tokens // 2 :] = True
    return ids, special


def masked(seed: int, rate: float = 0.15, shares=(0.8, 0.1, 0.1)):
    ids, special = example()
    rng = np.random.default_rng(seed)
    chosen = choose_pieces(~special, rate, rng)
    return ids, special, treat_pieces(ids, chosen, mask_id=MASK_ID, random_ids=RANDOM_IDS, rng=rng, shares=shares)


def test_shares_of_the_treatments_fit_80_10_10():
    counts = np.zeros(3)
    for seed in range(200):
        treatment = masked(seed)[2].treatment
        counts += [(treatment == code).sum() for code in (MASKED, RANDOM, KEPT)]
    expected = counts.sum() * np.array([0.8, 0.1, 0.1])
    chi_square = ((counts - expected) ** 2 / expected).sum()
    assert chi_square < 13.8  # 2 degrees of freedom, one false alarm in a thousand; the seeds are fixed


def test_every_eligible_place_is_chosen_equally_often():
    eligible = ~example(rows=1)[1]
    counts = np.zeros(eligible.shape)
    for seed in range(2000):
        counts += choose_pieces(eligible, 0.15, np.random.default_rng(seed))
    observed = counts[eligible]
    chi_square = ((observed - observed.mean()) ** 2 / observed.mean()).sum()
    assert chi_square < 100  # 61 degrees of freedom; draws without replacement stay below a true chi-square


def test_specials_are_never_chosen_and_labels_are_only_at_chosen_places():
    for seed in range(50):
        ids, special, result = masked(seed, rate=0.5)
        chosen = result.treatment != UNTOUCHED
        assert (chosen.sum(axis=1) == np.rint(0.5 * (~special).sum(axis=1))).all()
        assert not (chosen & special).any()
        assert ((result.labels != IGNORED) == chosen).all()
        assert (result.labels[chosen] == ids[chosen]).all()
        assert (result.input_ids[~chosen] == ids[~chosen]).all()


def test_each_treatment_does_what_its_name_says():
    ids, _, result = masked(1, rate=1.0)
    assert (result.input_ids[result.treatment == MASKED] == MASK_ID).all()
    assert (result.input_ids[result.treatment == KEPT] == ids[result.treatment == KEPT]).all()
    assert np.isin(result.input_ids[result.treatment == RANDOM], RANDOM_IDS).all()


def test_a_short_row_has_one_chosen_piece_and_an_empty_one_none():
    eligible = np.array([[False, True, False], [False, False, False]])
    chosen = choose_pieces(eligible, 0.15, np.random.default_rng(0))
    assert chosen.tolist() == [[False, True, False], [False, False, False]]


def test_ordinary_ids_leave_out_specials_and_reserved_entries():
    tokens = ["[PAD]", "[unused0]", "[CLS]", "the", "##s", "[unused993]", "["]
    assert ordinary_ids(tokens, special_ids=[0, 2]).tolist() == [3, 4, 6]
