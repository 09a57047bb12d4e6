"""Pieces of every kind of tokenizer: shown as the characters they cover, found where they stand, and blanks."""

import pytest
from tokenizers.pre_tokenizers import ByteLevel

import explorer
from explorer.bert.tokenizer import typed_span
from explorer.techniques.targets import piece_of
from explorer.text.pieces import Writing, bare, meanings, show_piece, with_own_mask, writing_of
from tests.families import write_family

TEXT = "The [MASK] went to Zürich, cafés 😀 東京 مرحبا."
KINDS = {
    "bert": Writing.WORDPIECE,
    "roberta": Writing.BYTES,
    "xlm-roberta": Writing.SENTENCEPIECE,
    "albert": Writing.SENTENCEPIECE,
    "modernbert": Writing.BYTES,
}


@pytest.fixture(scope="module", params=list(KINDS))
def model(request, tmp_path_factory):
    """A tiny model with a tokenizer of each kind."""
    return explorer.load(write_family(tmp_path_factory.mktemp("pieces") / request.param, request.param))


def covered(encoding, token):
    """The characters that a token came from."""
    start, end = encoding.offsets[token]
    return (encoding.text_a, encoding.text_b)[encoding.sequences[token]][start:end]


SHOWN = [
    ("ZÃ¼rich", Writing.BYTES, "Zürich"),
    ("ĠcafÃ©", Writing.BYTES, "Ġcafé"),
    ("ðŁĺĢ", Writing.BYTES, "😀"),
    ("Ċ", Writing.BYTES, "Ċ"),
    ("ZÃ", Writing.BYTES, "Z⟨C3⟩"),
    ("¼rich", Writing.BYTES, "⟨BC⟩rich"),
    ("##ing", Writing.WORDPIECE, "##ing"),
    ("▁the", Writing.SENTENCEPIECE, "▁the"),
    ("Ã©", Writing.SENTENCEPIECE, "Ã©"),
]


@pytest.mark.parametrize(("piece", "writing", "seen"), SHOWN)
def test_a_piece_is_shown_as_its_characters_and_bytes_that_are_none(piece, writing, seen):
    assert show_piece(piece, writing) == seen


def test_every_byte_has_a_letter_of_its_own():
    letters = ByteLevel.alphabet()
    assert len(letters) == 256
    assert all(show_piece(letter, Writing.BYTES) for letter in letters)
    text = "aé東😀 \n"
    ((cut, _),) = ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(text)
    assert show_piece(cut, Writing.BYTES) == text.replace(" ", "Ġ").replace("\n", "Ċ")


def test_marks_are_known_explained_where_they_occur_and_taken_off():
    assert writing_of(["a", "b"]) is Writing.WORDPIECE
    assert writing_of(["Ġa", "Ġb", "##", "▁"]) is Writing.BYTES
    assert meanings(["Ġthe", "⟨F0 9F⟩"]) == [
        "`Ġ` is the space before a word",
        "`⟨ ⟩` holds bytes of a character that is cut in pieces",
    ]
    assert meanings(["the"]) == []
    assert [bare(piece) for piece in ("##ing", "Ġthe", "▁the", "the", "##", "Ġ")] == ["ing", "the", "the", "the", "##", "Ġ"]


def test_a_piece_is_where_its_offsets_say(model, request):
    encoding = model.encode(TEXT, "A [MASK].")
    assert model.writing is KINDS[request.node.callspec.params["model"]]
    assert not any(letter in piece for piece in encoding.tokens for letter in "ÃðæÙ"), "mojibake"
    for token in encoding.text_positions:
        piece, text = bare(encoding.tokens[token]), covered(encoding, token)
        if encoding.kinds[token] == "mask":
            assert text == "[MASK]"
        elif piece in text:
            assert not text.startswith(" ") or not text.strip()
        else:  # accents and capitals are taken off, spaces and cut characters have marks
            folded = encoding.unknown == piece or "⟨" in piece or piece in ("▁", "Ġ") or not piece.isascii()
            assert folded or model.tokenizer.do_lower_case or len(piece) == len(text), (piece, text)


def test_mask_typed_as_bert_has_it_is_a_blank_in_every_model(model):
    encoding = model.encode(TEXT, "A [MASK].")
    blanks = [token for token, kind in enumerate(encoding.kinds) if kind == "mask"]
    assert [encoding.ids[token] for token in blanks] == [model.mask_id] * 2
    assert model.mask_positions(encoding) == blanks
    own = TEXT.replace("[MASK]", model.tokenizer.mask_token)
    assert model.encode(own, "A [MASK].").ids == encoding.ids
    assert len(model.fill_mask(TEXT)) == 1
    assert model.encode_many([TEXT])[0] == model.encode(TEXT).ids


def test_words_are_their_characters(model):
    encoding = model.encode("The man went home.")
    words = [encoding.word(group).lower().rstrip(".") for group in encoding.text_words]
    assert words[:4] == ["the", "man", "went", "home"]
    for group in encoding.text_words:
        assert {encoding.kinds[token] for token in group[1:]} <= {"continuation", "unk"}


def test_a_word_is_found_as_it_stands_in_a_sentence(model):
    word = "went" if model.writing is Writing.WORDPIECE else "m"
    id, name = piece_of(model, word)
    assert model.pieces([id]) == [name]
    assert bare(name) == word
    assert piece_of(model, name) == (id, name)


@pytest.mark.parametrize("mask", ["<mask>", "[MASK]", "<m>", "<longer-mask>"])
def test_blanks_of_any_length_are_found_again(mask):
    text = "a [MASK] b [MASK] c"
    own, ends = with_own_mask(text, mask)
    assert own == text.replace("[MASK]", mask)
    for letter in "abc":
        place = own.rindex(letter) if letter != "a" else 0
        start, end = typed_span(place, place + 1, own, ends, len(mask))
        assert text[start:end] == letter
    start = own.index(mask)
    assert text[slice(*typed_span(start, start + len(mask), own, ends, len(mask)))] == "[MASK]"
