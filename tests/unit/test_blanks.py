import pytest

from explorer.text.blanks import TYPED, Blanks


def toggled(model, blanks, token):
    return blanks.toggle(model.encode(*blanks.texts), token)


@pytest.mark.parametrize("text", ["Don't be unbelievably slow!", "🍎 apples 🍎", "مرحبا بالعالم", "x" * 300, "a\x00b c"])
def test_every_word_can_be_hidden_and_brought_back(bundled, text):
    texts = (text, "She said: «yes».")
    for token in range(bundled.encode(*texts).kept):
        hidden = toggled(bundled, Blanks(texts), token)
        spans = hidden.spans
        assert toggled(bundled, hidden, token).texts == texts
        if bundled.encode(*texts).sequences[token] < 0:
            assert hidden.texts == texts
        else:
            assert len(spans) >= 1


def test_a_word_of_several_pieces_gets_as_many_masks_so_that_nothing_else_moves(bundled):
    text = "an antidisestablishmentarian story"
    before = bundled.encode(text)
    pieces = [i for i, word in enumerate(before.words) if word == 1]
    after = bundled.encode(toggled(bundled, Blanks((text, "")), pieces[0]).texts[0])
    assert len(pieces) > 1
    assert after.kept == before.kept
    assert [token for i, token in enumerate(after.tokens) if i in pieces] == ["[MASK]"] * len(pieces)


def test_blanks_come_back_in_any_order(bundled):
    start = Blanks(("The quick brown fox", "jumps high"))
    blanks = start
    for token in (2, 7, 4, 1):
        blanks = toggled(bundled, blanks, token)
    assert len(blanks.spans) == 4
    for token in (4, 1, 7, 2):
        blanks = toggled(bundled, blanks, token)
    assert blanks.texts == start.texts


def test_a_typed_mask_stays(bundled):
    blanks = Blanks(("The [MASK] fox", ""))
    assert toggled(bundled, blanks, 2) == blanks
    both = toggled(bundled, blanks, 3)
    assert both.texts[0] == "The [MASK] [MASK]"
    assert toggled(bundled, both, 3).texts == blanks.texts


def test_what_is_known_is_forgotten_when_the_text_was_edited():
    assert Blanks(("a [MASK] b [MASK]", ""), (("word", 0, 1),)).hidden == (TYPED, TYPED)


def test_kinds(bundled):
    encoding = bundled.encode("unbelievable [MASK] 🍎", "ok")
    kinds = dict(zip(encoding.tokens, encoding.kinds, strict=True))
    assert kinds["[CLS]"] == kinds["[SEP]"] == "special"
    assert (kinds["[MASK]"], kinds["[UNK]"], kinds["ok"]) == ("mask", "unk", "piece")
    assert all((kind == "continuation") == token.startswith("##") for token, kind in kinds.items())
