"""Words with tags, out of files as others write them."""

from collections import Counter

import pytest

import explorer
from explorer.core.errors import InputError
from explorer.core.paths import EXAMPLES
from explorer.text.corpora import read_tagged
from explorer.text.tagged import split_words

UNIVERSAL = set("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split())  # noqa: SIM905
CONLLU = (
    "# sent_id = 1\n# text = It's here\n1-2\tIt's\t_\t_\t_\t_\t_\t_\t_\t_\n1\tIt\tit\tPRON\tPRP\t_\t3\tnsubj\t_\t_\n"
    "2\t's\tbe\tAUX\tVBZ\t_\t3\tcop\t_\t_\n3\there\there\tADV\tRB\t_\t0\troot\t_\t_\n3.1\tnow\tnow\tADV\tRB\t_\t_\t_\t_\t_\n\n"
)
WORDS, TAGS = ("Ada", "sings", "."), ("B-PER", "O", "O")


@pytest.mark.parametrize(
    "text",
    [
        "Ada\tB-PER\nsings\tO\n.\tO\n",
        "Ada B-PER\r\nsings O\r\n. O\r\n\r\n",
        "-DOCSTART- -X- -X- O\n\nAda NNP B-NP B-PER\nsings VBZ B-VP O\n. . O O\n\n\n",
        "# about = names\n1\tAda\tB-PER\n2\tsings\tO\n3\t.\tO\n",
        "\ufeffAda\tB-PER\nsings\tO\n.\tO",
        "B-PER\tAda\nO\tsings\nO\t.\n",
        "1\tAda\tB-PER\tO\n2\tsings\tO\tO\n3\t.\tO\tO\n",
        "Token Tag\nAda B-PER\nsings O\n. O\n",
    ],
)
def test_one_sentence_in_all_the_ways_it_may_be_written(write, text):
    (one,) = read_tagged(write(text)).sentences
    assert (one.words, one.tags) == (WORDS, TAGS)


def test_what_looks_like_a_comment_or_json_may_be_a_word(write):
    found = read_tagged(write("[\tO\n#\tO\n{\tO\n\u2028x\tB-X\n"))
    assert found.sentences[0].words == ("[", "#", "{", "x")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        (b"a\tO\0\n", "not text"),
        ("a\tO\nb\n", "Line 2 has 1 of 2 columns"),
        ("a\tO\nb\t \n", "Line 2 has 1 of 2 columns"),
        ("just some words\nand more\n", "Line 2 has 2 of 3 columns"),
        (CONLLU.replace("\tADV", "\t_"), "Line 6 has a word without a tag"),
        ("x" * 100_000 + "\tO\n", "from line 1 has 100,000 characters"),
        ("a\t" + "x" * 100_000 + "\n", "in line 1 has 100,000 characters"),
        ("a\tO\n" * 50_000, "from line 1 has 99,999 characters"),
        ("\u200b\tO\n", "Line 1 has no word"),
        ("word\n", "Line 1 has 1 of 2 columns"),
    ],
)
def test_a_wrong_file_gets_a_sentence_that_names_the_line(write, text, said):
    with pytest.raises(InputError, match=said) as caught:
        read_tagged(write(text))
    assert len(str(caught.value)) < 250


def test_the_sets_that_come_with_the_app_are_tagged_throughout():
    speech, names = (read_tagged(EXAMPLES / f"{name}.conll").sentences for name in ("parts_of_speech", "names"))
    assert len(speech) >= 150
    assert len(names) >= 200
    assert {tag for one in speech for tag in one.tags} <= UNIVERSAL
    kinds = ("PER", "LOC", "ORG", "TIME")
    assert {tag for one in names for tag in one.tags} == {"O", *(f"{place}-{kind}" for place in "BI" for kind in kinds)}
    for one in (*speech, *names):  # as the tokenizer cuts them, so that a sentence that is typed is cut alike
        assert split_words(" ".join(one.words)) == list(one.words)
        assert one.words[-1] in ".?!"
    for one in names:
        assert all(before[2:] == tag[2:] for before, tag in zip(("O", *one.tags), one.tags, strict=False) if tag[0] == "I")
    assert max(Counter(" ".join(one.words).lower() for one in (*speech, *names)).values()) == 1


@pytest.mark.parametrize("text", ["Don't stop, Mr. O'Neil!", "a_b (c) – d… 5€ 5$ 中文x", "tab\tnew\nline\u200b end"])
def test_words_are_cut_as_the_tokenizer_of_bert_cuts_them(text):
    backend = explorer.load().tokenizer.backend_tokenizer
    normalised = backend.normalizer.normalize_str(text)
    assert [word.lower() for word in split_words(text)] == [
        word for word, _ in backend.pre_tokenizer.pre_tokenize_str(normalised)
    ]
