"""What columns are called in the data sets of the field, in a normal form: GLUE and its like, Kaggle's and UCI's, and exports."""

_words = str.split
LABEL_NAMES = _words(
    "label_text gold_label label labels class category sentiment intent target quality is_duplicate entailment_judgment score "
    "similarity relatedness_score rating stars polarity emotion topic tag stance toxic overall grade y"
)
LABEL_WORDS = {
    *_words(
        "label class category sentiment target intent score rating stars emotion polarity toxic spam stance topic judgment is"
    )
}
TEXT_NAMES = _words(
    "text sentence tweet message review comment content question utterance query phrase document essay excerpt body post "
    "statement sms"
)
TEXT_WORDS = {*_words("text sentence tweet message review comment content question body post reviews")}
SHORT_NAMES = _words("headline description abstract title summary input")  # of texts, where no other column has one
_PAIRS = _words(
    "text_a/text_b text/text_b sentence1/sentence2 premise/hypothesis question1/question2 1_string/2_string text1/text2 "
    "text/text2 sentence_a/sentence_b question/sentence question/passage question/context query/passage query/document "
    "question/answer context/response claim/evidence text/second first/second a/b"
)
PAIRS = tuple((first, second) for first, _, second in (pair.partition("/") for pair in _PAIRS))
KNOWN_NAMES = {*LABEL_NAMES, *TEXT_NAMES, *SHORT_NAMES, *(name for pair in PAIRS for name in pair if len(name) > 1)}


def normal(name: str) -> str:
    """A name in lower case, its words joined by underscores: 'Review Text' and 'reviewText' are review_text."""
    spaced = "".join(
        f" {letter}" if letter.isupper() and before.islower() else letter
        for before, letter in zip(f" {name}", name, strict=False)
    )
    return "_".join("".join(letter if letter.isalnum() else " " for letter in spaced.lower()).split())
