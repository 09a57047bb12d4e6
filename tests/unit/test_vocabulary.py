import itertools
from fnmatch import fnmatchcase

import numpy as np

from explorer.analysis.similarity import nearest
from explorer.tokens.vocabulary import search

PIECES = ["[PAD]", "play", "display", "##play", "Played", "1996", "##ing", "the", "##s", "playing", "a.c", "abc", "*"]


def found(query):
    return [PIECES[id] for id in search(PIECES, query)]


def test_the_piece_itself_then_its_beginnings_then_what_holds_it():
    assert found("play") == ["play", "Played", "playing", "##play", "display"]
    assert found(" PLAY ") == found("play")


def test_two_hashes_find_only_pieces_that_continue_a_word():
    assert found("##") == ["##play", "##ing", "##s"]
    assert found("##s") == ["##s"]


def test_a_number_is_an_id_too():
    assert found("7") == ["the"]
    assert found("1996") == ["1996"], "there are fewer ids than that here"
    assert found("1") == ["play", "1996"]
    assert search(PIECES, "99999999999999999999") == []


def test_a_star_stands_for_any_letters_and_nothing_else_is_special():
    assert found("play*") == ["play", "Played", "playing"]
    assert found("*ing") == ["##ing", "playing"]
    assert found("##*g") == ["##ing"]
    assert found("a.c") == ["a.c"]
    assert found("[pad]") == ["[PAD]"]
    assert found("p*y*g") == ["playing"]
    assert found("nothing like it") == []


def test_stars_mean_what_they_mean_in_a_shell():
    pieces = ["".join(letters) for length in range(6) for letters in itertools.product("ab", repeat=length)]
    for parts in itertools.product(("", "a", "ab", "ba"), repeat=3):
        query = "*".join(parts)
        assert search(pieces, query) == [id for id, piece in enumerate(pieces) if fnmatchcase(piece, query)]


def test_nearest_is_by_cosine_and_leaves_out_the_piece_itself():
    table = np.array([[1, 0], [2, 0.1], [-3, 0], [0, 1], [0, 0]], dtype=np.float32)
    best = nearest(table, 0, 3)
    assert [row for row, _ in best] == [1, 3, 4]
    assert best[0][1] == np.float32(2 / np.hypot(2, 0.1))
    assert len(nearest(table, 0, 99)) == 4
    assert nearest(table[:1], 0) == []
