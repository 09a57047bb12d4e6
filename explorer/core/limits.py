"""The limits that an operator may set, and those that several parts of the app share, each with the sentence shown beyond it.

There are two profiles: local, and public for a Space or a class, where many share the machine. The environment chooses one
(BERT_EXPLORER_PROFILE) and sets the limits of `LIMITS` (BERT_EXPLORER_MAX_TEXTS=1000); it is read once, at the start.
"""

import os
from contextlib import suppress

from explorer.core.errors import InputError

PROFILE = "BERT_EXPLORER_PROFILE"
PREFIX = "BERT_EXPLORER_MAX_"
NONE = 0  # as the value of a limit that may be lifted: no limit
MEGABYTE = 2**20
DAY = 24 * 3600  # seconds

_public = False  # whether the public profile is used


def is_on_a_space() -> bool:
    """Whether the app runs on a Hugging Face Space, behind its proxy."""
    return "SPACE_ID" in os.environ


def is_public() -> bool:
    return _public


class Limit:
    """A whole number, and what a user who exceeds it reads: {given}, {most}, {what} and {What} are filled in.

    The sentence is '' where none is refused. The environment may set a limit that says what it `bounds`, in which unit.
    """

    def __init__(self, most: int, sentence: str = "", bounds: str = "", public: int | None = None) -> None:
        self.most = self.local = most
        self.sentence, self.bounds, self.public = sentence, bounds, most if public is None else public

    @property
    def bytes(self) -> int:
        """The value of a limit in MB, in bytes."""
        return self.most * MEGABYTE

    def check(self, given: float, what: str = "") -> None:
        """Raise InputError if `given` exceeds the limit."""
        if given > self.most:
            raise InputError(self.tell(given, what))

    def tell(self, given: float = 0, what: str = "") -> str:
        """The sentence for a user who exceeds the limit with `given` of `what`."""
        return self.sentence.format(given=f"{given:,}", most=f"{self.most:,}", what=what, What=what[:1].upper() + what[1:])


class Part(Limit):
    """A share of another limit, so that an operator sets one of them only."""

    def __init__(self, of: Limit, share: float, sentence: str = "", public: float | None = None) -> None:
        self.of, self.shares, self.sentence = of, (share, share if public is None else public), sentence

    @property
    def most(self) -> int:  # type: ignore[override]  # which is not written to
        return round(self.of.most * self.shares[_public])


KEEP = "You gave {given} {what}. Keep {most} or fewer."
TYPE = "Type 1 to {most} {what}, one per line. You gave {given}."
LARGE = "The file has more than {most} MB. Send a part of it."
SHORTEN = "{What} has {given} characters. Shorten it to {most} or fewer."
WHOLE = "{What} must be a whole number from 1 to {most}."

# ---- Limits that an operator may set.

TOKENS = Limit(8_192, bounds="tokens of one input; a longer one is cut", public=2_048)
TEXTS = Limit(10_000, KEEP, "texts of one request, rows of a map, examples of a probe", public=5_000)
TRAINING_EXAMPLES = Limit(50_000, KEEP, "examples of a training")
CORPUS_SENTENCES = Limit(20_000, "The file has {given} sentences. Keep {most} or fewer.", "sentences of a corpus")
ITEMS = Limit(20_000, KEEP, "items of an experiment", public=2_000)
UPLOAD_MEGABYTES = Limit(256, "The file has more than {most} MB. Send a smaller one.", "MB of an uploaded file")
UPLOADS_MEGABYTES = Limit(
    2_048,
    "The server has no room for another file right now. Try again in an hour.",
    "MB of all uploaded files, of which one address has a quarter within an hour; those older than an hour make room",
)
WORK_MEGABYTES = Limit(
    2_048,
    "Reading this file takes more memory or time than the app allows. Send a part of it.",
    "MB of memory for reading one file over 1 MB (the hidden states of one training have half of it)",
    public=1_024,
)
TRAINING_MINUTES = Limit(NONE, bounds="minutes of a training, which then keeps what it has learned (0: any)", public=15)
VIEW_SECONDS = Limit(
    120,
    "This takes about {given} seconds, and {most} is the most. Shorten the text, or ask on the page, where it can be stopped.",
    "seconds of work, about, that a program may ask of one view",
    public=30,
)
MODELS = Limit(3, bounds="models in memory")
CACHE_MEGABYTES = Limit(  # all layers of 5,000 texts of a BERT-base are 200 MB
    256, bounds="MB of memory of each cache: the hidden states of a model, its vectors of whole texts, results about corpora"
)
STATES_MEGABYTES = Limit(
    8_192,
    "The hidden states of these texts take {given} MB on the disk, and {most} is the most. Take fewer or shorter texts.",
    "MB on the disk for hidden states of large trainings and of corpora, of which one corpus has a quarter",
    public=4_096,
)
WORKS = Limit(2, bounds="trainings, maps and other long works at the same time, of each kind")
RUNS_MEGABYTES = Limit(
    8_192,
    "The server has no room for another run. Try again in a few days.",
    "MB of all runs that are kept, of which one visitor has a quarter, in the public profile an eighth",
)
RUN_DAYS = Limit(30, bounds="days that a run is kept after it was last used", public=7)
ROOMS = Limit(
    20, "All {most} rooms are open. Try again later.", "rooms of classes; one address may open all, in the public profile a fifth"
)
ROOM_PEOPLE = Limit(60, "This room is full: {most} people. Ask your teacher.", "people in a room")
REQUESTS = Limit(
    NONE, "You sent over {most} requests in a minute. Wait a moment.", "requests a minute from one address (0: any)", public=3_000
)
FROZEN_SECONDS = Limit(  # then the process ends, so that systemd or a container starts it again
    NONE, bounds="seconds without a move of the server (0: any)", public=60
)

LIMITS = {PREFIX + name: limit for name, limit in list(globals().items()) if isinstance(limit, Limit)}
"""All limits that an operator may set, by their environment variables."""

# ---- Parts of them.

VISITOR_UPLOADS_MEGABYTES = Part(
    UPLOADS_MEGABYTES, 1 / 4, "More than {most} MB of files came from your address within an hour. Wait a while."
)
VISITOR_MEGABYTES = Part(
    RUNS_MEGABYTES, 1 / 4, "Older runs make room, but a run of over {most} MB cannot be kept. Train fewer layers.", public=1 / 8
)
VISITOR_ROOMS = Part(
    ROOMS, 1, "{most} rooms opened from your address are still open. Close one of them, or try again later.", public=1 / 5
)
TRAINING_MEGABYTES = Part(WORK_MEGABYTES, 1 / 2, "{given} texts this long do not fit into memory. Train on fewer of them.")
RESULTS_MEGABYTES = Part(CACHE_MEGABYTES, 1 / 2)
CORPUS_STATES_MEGABYTES = Part(STATES_MEGABYTES, 1 / 4, STATES_MEGABYTES.sentence)  # a state of 20,000 sentences has 700 MB

# ---- Limits that nobody sets.

CHARACTERS = Limit(20_000, SHORTEN)  # of one text; 512 pieces are about 2,500 characters of English
BOX_CHARACTERS = Limit(1_000_000, SHORTEN)  # of a box of many lines
QUERY = Limit(100, SHORTEN)
HITS = Limit(200, WHOLE)  # of a search in a corpus
DRIVERS = Limit(50, WHOLE)  # tokens of a corpus that drive a neuron most
COMPARED = Limit(50, KEEP)  # sentences in a matrix of similarities
PAIRS = Limit(100, TYPE)  # of sentences, or candidates for the next sentence
CUTS = Limit(32, KEEP)  # attention weights cut together
GUESSES = Limit(100, WHOLE)  # for a blank
TABLE_MEGABYTES = Limit(10, LARGE)
COLUMNS = Limit(200, KEEP)  # of a table; those after them are left out
LINES = Limit(300_000, "The file has more than {most} lines. Send a part of it.")
VALUES = Limit(2_000_000, "The file has more than {most} values or empty cells. Send a part of it.")  # SQuAD 2.0 has 1,300,000
CELLS = Limit(4_000_000, VALUES.sentence)  # of a table whose rows are filled up to the longest
CLASSES = Limit(100, "There are {given} different labels; {most} is the most, so choose another column.")
CARDS = Limit(  # as many as there are colours that the colour-blind tell apart
    6, "Train has room for {most} classes, but these sentences have {given} labels. Select points of {most} labels at most."
)
LABEL = Limit(100, SHORTEN)
EPOCHS = Limit(200, WHOLE)
WAITING = Limit(64, "The app is busy. Try again in a moment.")  # requests that wait
WAITING_WORKS = Limit(  # of each kind
    16, "Many long computations are waiting already. Try again in a few minutes."
)


def read_environment() -> None:
    """Set the profile and the limits as the environment has them. Raises InputError if one of them is invalid."""
    global _public
    profile = os.environ.get(PROFILE, "public" if is_on_a_space() else "local")
    _public = profile != "local"
    if profile not in ("local", "public"):
        raise InputError(f"{PROFILE} must be local or public. Set it to one of them, or leave it out.")
    for name in os.environ:
        if name.startswith(PREFIX) and name not in LIMITS:
            raise InputError(f"No limit is called {name[:60]}. The guide's page on limits lists all of them.")
    for name, limit in LIMITS.items():
        given = os.environ.get(name) or str(limit.public if _public else limit.local)
        least = NONE if "0: any" in limit.bounds else 1
        if not (given.isascii() and given.isdecimal() and len(given) < 16 and int(given) >= least):
            raise InputError(f"{name} must be a whole number of at least {least}. Set it to one, or leave it out.")
        limit.most = int(given)


def as_markdown() -> str:
    """The table of the limits that an operator may set, for the guide."""
    rows = ["| setting | bounds | local | public |", "|---|---|---|---|"]
    for name, limit in LIMITS.items():
        value = f"{limit.local:,}" if limit.local != NONE else "none"
        public = f"{limit.public:,}" if limit.public != limit.local else ""
        rows.append(f"| `{name}` | {limit.bounds} | {value} | {public} |")
    return "\n".join(rows)


with suppress(InputError):  # which the app reports when it reads the environment at its start; a notebook has the other limits
    read_environment()
