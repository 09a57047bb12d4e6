"""Check and clean what people in a room type, and make the words of rooms and nicknames."""

import functools
import re
import secrets
import unicodedata
from collections.abc import Container, Iterable

from badwords import Options, ProfanityFilter

from explorer.core.errors import InputError
from explorer.core.paths import ASSETS

ACCENTS = 2  # per letter: Vietnamese, Arabic and Thai use two, no language three
_ALIKE = str.maketrans({"i": "l", "1": "l", "|": "l", "0": "o", "m": "rn"})
NICKNAME = 16  # characters
WORD = 30  # characters of a guess
SENTENCE = 200  # characters of an example
CRUDE = "Those words are not for the projector. Choose others."
KINDS = (
    "amber blue brave bright calm clever copper coral cosy crimson curious dapper eager early fair fancy fast fluffy gentle "
    "giant golden grand green happy hazel honest humble ivory jolly keen kind lively loyal lucky lunar magic mellow merry "
    "mighty misty modest neat nimble noble olive pearl plucky polite proud purple quick quiet rapid red rosy royal ruby "
    "sandy scarlet shiny silver sleek small snowy solar sunny swift tall teal tidy tiny velvet violet vivid warm wild wise witty"
)
ANIMALS = (
    "badger bear beaver bee bison camel cat cobra cod crab crane cricket crow deer dingo dolphin dove duck eagle eel egret elk "
    "falcon ferret finch fox frog gecko gibbon goose grouse gull hare hawk hen heron horse ibis iguana jackal jay kiwi koala "
    "lark lemur lion lizard llama lobster lynx magpie mink mole moose moth mouse newt orca otter owl panda parrot pelican "
    "pigeon pony puffin quail rabbit raven robin salmon seal shark sheep shrew sloth snail sparrow spider squid stork swan "
    "tiger toad trout turtle walrus wasp weasel whale wolf wombat wren yak zebra"
)


def new_word(taken: Container[str]) -> str:
    """A new word for a room, such as quick-blue-otter: easy to say and to type, and not in `taken`.

    There are 78 · 77 · 95 = 570,570. One address may miss 30 times a minute (`rooms.MISSES`), 1,800 times an hour: it finds one
    given room with a chance of 0.3% per hour. With two of the three words it would be 24%. A limit on the misses of all
    addresses together would not help: to hide the right words it must refuse them too, and so closes rooms to classes.
    """
    pick = secrets.SystemRandom()
    while (word := "-".join([*pick.sample(KINDS.split(), 2), pick.choice(ANIMALS.split())])) in taken:
        pass
    return word


def as_word(typed: str) -> str:
    """The room's word for a typed one: 'Quick Blue Otter' is quick-blue-otter."""
    return "-".join(re.findall(r"[a-z]+", typed.lower()))


def suggestion() -> str:
    return f"{secrets.choice(KINDS.split())} {secrets.choice(ANIMALS.split())}".title()


def nickname(typed: object, taken: Iterable[str]) -> str:
    """The cleaned nickname. Raises InputError if it is unfit, or looks like one in `taken`."""
    name = _fit(typed, "the nickname", NICKNAME)
    if not any(letter.isalnum() for letter in name):
        raise InputError("A nickname needs a letter. Type one, or take the suggested name.")
    _check_crude(name.replace(" ", ""))
    if skeleton(name) in map(skeleton, taken):
        raise InputError(f"The room already has {name}, or a name that looks like it. Choose another nickname.")
    return name


def word(typed: object) -> str:
    return _fit(typed, "the guess", WORD)


def sentence(typed: object) -> str:
    return _fit(typed, "the sentence", SENTENCE)


def _fit(typed: object, what: str, most: int) -> str:
    """The text as one line of visible characters. Raises InputError if it is empty, too long, or crude."""
    if not isinstance(typed, str):
        raise InputError(f"Type {what} as text.")
    # Format characters reverse lines and hide letters; without them and controls, composed emoji fall into their parts.
    seen = "".join(
        " " if letter.isspace() else letter for letter in typed if unicodedata.category(letter)[0] != "C" or letter.isspace()
    )
    text = " ".join(seen.split())
    if not text:
        raise InputError(f"Type {what} first.")
    if len(text) > most:
        raise InputError(f"{what[:1].upper()}{what[1:]} has {len(text):,} characters. Shorten it to {most} or fewer.")
    if has_piled_accents(text):
        raise InputError(f"{what[:1].upper()}{what[1:]} has too many accents on one letter. Leave some of them out.")
    _check_crude(text)
    return text


def _check_crude(text: str) -> None:
    """Raise InputError for crude words, even in similar-looking characters."""
    if any(map(_filter().is_profane, {text, as_latin(text)})):
        raise InputError(CRUDE)


@functools.cache
def _filter() -> ProfanityFilter:
    """English only: with all languages, one word in thirty is crude in some language."""
    made = ProfanityFilter()
    made.init(["en"], options=Options(split_on_punctuation=True, collapse_repeats=True, leetspeak=True))
    return made


# ---- Names that look alike on a screen, whatever characters they use: skeletons, as in UTS 39 of Unicode.


@functools.cache
def _table() -> dict[int, str]:
    """Other characters → the Latin letter that they look like."""
    lines = (ASSETS / "classroom" / "lookalikes.txt").read_text("utf-8").splitlines()
    pairs = [line.split() for line in lines if not line.startswith("#")]
    return {ord(other): latin for latin, others in pairs for other in others}


def as_latin(text: str) -> str:
    """The text with similar-looking characters replaced by Latin letters."""
    return unicodedata.normalize("NFKC", text).translate(_table())


@functools.lru_cache(1_000)
def skeleton(name: str) -> str:
    """A string that is equal for names that look the same on a projector; case, blanks and punctuation do not count."""
    folded = as_latin(as_latin(name).casefold()).translate(_ALIKE)
    return "".join(letter for letter in folded if unicodedata.category(letter)[0] not in "ZP")


def has_piled_accents(text: str) -> bool:
    """Whether a letter has more than ACCENTS accents, which would cover the lines above and below."""
    pile = 0
    for character in unicodedata.normalize("NFD", text):
        pile = pile + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        if pile > ACCENTS:
            return True
    return False
