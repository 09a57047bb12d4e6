"""Question files in the format of SQuAD (Rajpurkar et al. 2016 and 2018), nested, or flat as in the `datasets` library."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from explorer.core.errors import InputError
from explorer.core.limits import MEGABYTE, TABLE_MEGABYTES, TEXTS
from explorer.finetune.compute.questions import Question, Questions, check_enough
from explorer.text import limits

FILE_TYPES = (".json", ".jsonl")
STRANGE = "The file is not as SQuAD has it; send its JSON, or lines of {question, context, answers: {text, answer_start}}."


@dataclass(frozen=True)
class QuestionFile:
    """The questions of a file, and a sentence about how it was read."""

    questions: Questions
    about: str


def read_questions(path: Path, seed: int = 0) -> QuestionFile:
    """The questions of a SQuAD file, version 1.1 or 2.0; too many are sampled with the seed.

    Raises InputError when the file is too large or in another format, or an answer is not at its place; it names the question.
    """
    TABLE_MEGABYTES.check(path.stat().st_size / MEGABYTE)
    try:
        found = list(_entries(_parse(path.read_bytes().decode("utf-8-sig"))))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(STRANGE) from error
    if not found:
        raise InputError("The file has no questions; it needs at least two, on two texts.")
    about = f"{len(found):,} questions in the file"
    numbered = list(enumerate(found, start=1))
    if len(found) > TEXTS.most:
        drawn = np.random.default_rng(seed).choice(len(found), TEXTS.most, replace=False)
        numbered = [numbered[place] for place in sorted(drawn)]
        about += f", {TEXTS.most:,} of them drawn with the seed"
    return QuestionFile(check_enough(Questions(tuple(_check(number, *entry) for number, entry in numbered))), f"{about}.")


_Entry = tuple[Any, Any, list[tuple[Any, Any]]]  # a question, its text, and answers with the characters at which they begin


def _parse(text: str) -> Any:
    """One JSON value, or a list of JSON lines."""
    try:
        return json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def _entries(found: Any) -> Iterator[_Entry]:
    """The questions of a file, nested or flat. Raises KeyError, TypeError or AttributeError for another format."""
    if isinstance(found, dict) and "data" in found:
        for paragraph in (paragraph for article in found["data"] for paragraph in article["paragraphs"]):
            for asked in paragraph["qas"]:
                answers = [] if asked.get("is_impossible") else asked["answers"]
                yield asked["question"], paragraph["context"], [(one["text"], one["answer_start"]) for one in answers]
        return
    for row in found if isinstance(found, list) else [found]:
        answers = row["answers"]
        yield row["question"], row["context"], list(zip(answers["text"], answers["answer_start"], strict=True))


def _check(number: int, question: Any, text: object, answers: list[tuple[Any, Any]]) -> Question:
    question = limits.check_text(question, f"question {number}").strip()
    text = limits.check_text(text, f"the text of question {number}")
    for answer, start in answers:
        answer = limits.check_text(answer, f"the answer of question {number}")
        if type(start) is not int or not 0 <= start <= len(text) - len(answer):
            raise InputError(f"The answer of question {number} lies outside its text; give the character at which it begins.")
        if text[start : start + len(answer)] != answer:
            place = f"character {start} of its text"
            raise InputError(f"The answer of question {number} is not what stands at {place}; count characters from 0.")
    if not answers:
        return Question(question, text)
    return Question(question, text, tuple(dict.fromkeys(answer for answer, _ in answers)), answers[0][1])
