"""All limits of the app: what each bounds, its value in each profile, and the sentence shown when it is exceeded.

There are two profiles: the local one, and the public one for a Space or a class, where strangers share the machine. The
environment chooses the profile (BERT_EXPLORER_PROFILE) and may set any limit (BERT_EXPLORER_MAX_TEXTS=1000).
"""

import os
from dataclasses import dataclass

from explorer.core.errors import InputError

PROFILE = "BERT_EXPLORER_PROFILE"
PREFIX = "BERT_EXPLORER_MAX_"
NONE = 0  # as the value of a limit that may be lifted: no limit
MEGABYTE = 2**20
DAY = 24 * 3600  # seconds


def is_on_a_space() -> bool:
    """Whether the app runs on a Hugging Face Space, behind its proxy."""
    return "SPACE_ID" in os.environ


def is_public() -> bool:
    """Whether the public profile is used: by BERT_EXPLORER_PROFILE, by default only on a Space."""
    return os.environ.get(PROFILE, "public" if is_on_a_space() else "local") != "local"


@dataclass(frozen=True)
class Limit:
    """A limit: a whole number, from the profile or the environment."""

    name: str
    bounds: str  # what, and in which unit
    local: int
    public: int
    sentence: str  # what happens beyond it; {given}, {most}, {what} and {What} are filled in

    @property
    def setting(self) -> str:
        """The variable of the environment that sets it."""
        return PREFIX + self.name.upper()

    @property
    def least(self) -> int:
        """The smallest value that it may be set to."""
        return NONE if "0: any" in self.bounds else 1

    @property
    def most(self) -> int:
        """The current value. `check_environment` has checked the environment at the start."""
        given = os.environ.get(self.setting, "")
        return int(given) if self.is_valid(given) else self.public if is_public() else self.local

    def is_valid(self, given: str) -> bool:
        """Whether the limit may be set to a value from the environment."""
        return given.isascii() and given.isdecimal() and len(given) < 16 and int(given) >= self.least

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


_KEEP = "There are {given} {what}; keep {most} of them or fewer."
_TYPE = "Type 1 to {most} {what}, one a line; there are {given}."
_LARGE = "The file has more than {most} MB; send a part of it."

CHARACTERS = Limit(  # 512 pieces are about 2,500 characters of English
    *("characters", "characters of one text", 20_000, 10_000), "{What} has {given} characters; shorten it to {most} or fewer."
)
BOX_CHARACTERS = Limit("box_characters", "characters of a box of many lines", 2_000_000, 1_000_000, CHARACTERS.sentence)
QUERY = Limit("query", "characters of a search of the vocabulary", 100, 100, CHARACTERS.sentence)
TOKENS = Limit("tokens", "tokens of one input", 8_192, 2_048, "A longer input is cut, and the page says so.")
TEXTS = Limit("texts", "texts of one request, rows of a map, examples of a probe", 5_000, 5_000, _KEEP)
TRAINING_EXAMPLES = Limit("training_examples", "examples of a training", 50_000, 20_000, _KEEP)
CORPUS_SENTENCES = Limit(
    "corpus_sentences", "sentences of a corpus", 20_000, 20_000, "The file has {given} sentences; keep {most} or fewer."
)
HITS = Limit("hits", "hits of a search in a corpus", 200, 200, "{What} must be a whole number from 1 to {most}.")
DRIVERS = Limit("drivers", "tokens of a corpus that drive a neuron most", 50, 50, HITS.sentence)
COMPARED = Limit("compared", "sentences in a matrix of similarities", 50, 50, _KEEP)  # it stands in a label
ITEMS = Limit("items", "items of an experiment", 20_000, 2_000, _KEEP)
EXPERIMENT_MEGABYTES = Limit("experiment_megabytes", "MB of the file of an experiment", 200, 50, _LARGE)
SCORED = Limit("scored", "texts whose likelihood is asked for", 200, 50, _KEEP)
RANKED = Limit("ranked", "sentences whose likelihood is compared in the page", 20, 20, _TYPE)
PAIRS = Limit("pairs", "pairs of sentences, or candidates for the next sentence", 100, 100, _TYPE)
BLANKS = Limit("blanks", "blanks filled together", 64, 32, "There are {given} blanks; fill {most} or fewer together.")
CUTS = Limit("cuts", "attention weights cut at once", 32, 32, _KEEP)
GUESSES = Limit("guesses", "guesses for a blank", 100, 100, "{What} must be a whole number from 1 to {most}.")
STEPS = Limit("steps", "steps of an attribution", 500, 200, GUESSES.sentence)
TABLE_MEGABYTES = Limit("table_megabytes", "MB of a table", 10, 10, _LARGE)  # it stands in a label
PAIRS_MEGABYTES = Limit("pairs_megabytes", "MB of a table of pairs", 1, 1, _LARGE)
CORPUS_MEGABYTES = Limit("corpus_megabytes", "MB of a text or a treebank", 40, 40, _LARGE)  # 20,000 sentences in CoNLL-U
COLUMNS = Limit("columns", "columns of a table", 200, 200, "Those after them are left out.")
LINES = Limit("lines", "lines of a table", 300_000, 300_000, "The file has more than {most} lines; send a part of it.")
CELLS = Limit(
    *("cells", "cells of a table, each row as long as the longest", 4_000_000, 4_000_000),
    "The file has more than {most} cells, as each row is filled up to the longest; send a part of it.",
)
CELL_LINES = Limit("cell_lines", "lines of a quoted cell of a table", 50, 50, "Its quote was never closed: a mere letter.")
JSON_VALUES = Limit(  # the whole of SQuAD 2.0 has 1,300,000
    *("json_values", "values of an uploaded JSON file, each word or number", 2_000_000, 2_000_000),
    "There are more than {most} values in this file; send a part of them.",
)
EXPERIMENT_VALUES = Limit(  # 20,000 items with two numbers for each head of BERT-large are 16 million
    *("experiment_values", "values of the file of an experiment", 20_000_000, 5_000_000), JSON_VALUES.sentence
)
FILE_READERS = Limit(
    *("file_readers", "files over 1 MB that are read at the same time, each in a process of its own", 2, 2),
    "Others wait for a free place, and one address has one of them.",
)
FILE_SECONDS = Limit(
    *("file_seconds", "seconds of processor time for reading one file over 1 MB", 60, 30),
    "Reading this file takes more memory or time than the app allows; send a part of it.",
)
READER_MEGABYTES = Limit(
    *("reader_megabytes", "MB of memory for reading one file over 1 MB, on Linux", 2_048, 1_024), FILE_SECONDS.sentence
)
BODY_MEGABYTES = Limit(  # five thousand long texts are a quarter of it
    "body_megabytes", "MB of a request that is no upload", 20, 20, "That is too large; send at most {most} MB at once."
)
VALUES = Limit(  # parsing takes a microsecond each, during which no other request is answered
    *("values", "values of a request that is no upload, each word or number", 500_000, 200_000),
    "There are more than {most} values in this request; send a part of them.",
)
UPLOAD_MEGABYTES = Limit(
    "upload_megabytes", "MB of an uploaded file", 256, 256, "The file has more than {most} MB; send a smaller one."
)
UPLOADS_MEGABYTES = Limit(
    *("uploads_megabytes", "MB of all uploaded files; those older than an hour make room", 4_096, 2_048),
    "There is no room for another file just now; try again in an hour.",
)
VISITOR_UPLOADS_MEGABYTES = Limit(
    *("visitor_uploads_megabytes", "MB of files that one address uploads in an hour", 2_048, 512),
    "More than {most} MB of files came from here within an hour; wait a while.",
)
ZIP_MEGABYTES = Limit(  # BERT-base has 440 MB
    *("zip_megabytes", "MB of a run's zip, unpacked", 600, 600),
    "This zip unpacks to more than {most} MB, which is more than a run can have.",
)
CLASSES = Limit(
    *("classes", "different labels", 100, 100),
    "There are {given} different labels; {most} is the most, so choose another column.",
)
LABEL = Limit("label", "characters of a label", 100, 100, "{What} is longer than {most} characters; shorten it.")
ANSWER = Limit("answer", "characters of an answer in a text", 1_000, 1_000, LABEL.sentence)
EPOCHS = Limit("epochs", "epochs of a training", 200, 50, GUESSES.sentence)
TRAINING_MINUTES = Limit(
    "training_minutes", "minutes of a training (0: any)", NONE, 15, "It ends after {most} minutes with what it has learnt."
)
TRAINING_MEGABYTES = Limit(
    *("training_megabytes", "MB of hidden states below trained layers that are kept in memory", 1_024, 512),
    "{given} texts this long do not fit into memory; train on fewer of them.",
)
READING_MEGABYTES = Limit(
    *("reading_megabytes", "MB on the disk of what a model gives of the examples of large trainings", 8_192, 4_096),
    "What the model gives of these texts takes {given} MB on the disk, and {most} is the most; train on fewer or shorter texts.",
)
CORPUS_STATES_MEGABYTES = Limit(  # one hidden state of 20,000 sentences of BERT-base is 700 MB
    *("corpus_states_megabytes", "MB on the disk of what a model gives of one corpus", 2_048, 1_024),
    "What the model gives of this corpus takes {given} MB on the disk, and {most} is the most; take fewer or shorter sentences.",
)
CORPUS_RESULTS_MEGABYTES = Limit(
    *("corpus_results_megabytes", "MB of results about corpora that are kept in memory, of each kind", 256, 128),
    "The one used longest ago is computed again when it is asked for.",
)
CORPUS_OPEN_MEGABYTES = Limit(
    *("corpus_open_megabytes", "MB of files of what models give of corpora that are kept open, of each kind", 4_096, 2_048),
    "The one used longest ago is opened again when it is asked for.",
)
VIEW_SECONDS = Limit(
    *("view_seconds", "seconds of work, about, that a program may ask of one view", 120, 30),
    "This takes about {given} seconds, and {most} is the most; shorten the text, or ask on the page, where it can be stopped.",
)
MODELS = Limit("models", "models in memory", 3, 3, "The one used longest ago is loaded again when it is asked for.")
TRACE_MEGABYTES = Limit(
    "trace_megabytes",
    "MB of hidden states, and of what views derive of them, that each model keeps; routes may take a quarter of it besides",
    256,
    256,
    "A text read longest ago is read again when it is asked for.",
)
FEATURES_MEGABYTES = Limit(  # all layers of 5,000 texts of a BERT-base are 200 MB
    *("features_megabytes", "MB of vectors of whole texts that each model keeps", 256, 256), TRACE_MEGABYTES.sentence
)
RESULTS_MEGABYTES = Limit(
    *("results_megabytes", "MB of results of long works that are kept", 128, 128), CORPUS_RESULTS_MEGABYTES.sentence
)
WORKS = Limit(*("works", "trainings, maps and other long works at once, of each kind", 2, 2), "Others wait for a free place.")
WAITING_WORKS = Limit(
    *("waiting_works", "long works that wait for a place, of each kind", 16, 16),
    "Many long computations are waiting already; try again in a few minutes.",
)
WAITING = Limit("waiting", "requests that wait", 64, 64, "The app is busy; try again in a moment.")
SESSIONS = Limit("sessions", "open pages whose state is kept", 1_000, 1_000, "The page used longest ago starts afresh.")
RUNS = Limit(
    *("runs", "runs that are kept", 500, 500), "There is no room for another run on this machine; try again in a few days."
)
RUNS_MEGABYTES = Limit("runs_megabytes", "MB of all runs", 8_192, 8_192, RUNS.sentence)
VISITOR_RUNS = Limit("visitor_runs", "runs of one visitor", 50, 30, "The visitor's oldest run leaves.")
VISITOR_MEGABYTES = Limit(
    *("visitor_megabytes", "MB of one visitor's runs", 2_048, 1_024),
    "Your oldest runs make room, but a run of more than {most} MB cannot be kept; train fewer layers.",
)
RUN_DAYS = Limit("run_days", "days that a run is kept after it was last used", 7, 7, "It leaves.")
ROOMS = Limit("rooms", "rooms of classes at once", 20, 20, "There are {most} rooms open already; try again later.")
VISITOR_ROOMS = Limit(
    *("visitor_rooms", "rooms of classes at once that one address opened", 20, 4),
    "{most} rooms that were opened from here are open still; end one of them, or try again later.",
)
ROOM_PEOPLE = Limit("room_people", "people in a room", 60, 60, "This room is full; it holds {most} people.")
ROOM_MINUTES = Limit("room_minutes", "minutes until a room ends by itself", 240, 240, "It ends, and nothing of it is kept.")
REQUESTS = Limit(
    *("requests", "requests a minute from one address (0: any)", NONE, 3_000),
    "These are more than {most} requests in a minute; wait a moment.",
)
CONNECTIONS = Limit(  # a page keeps three open at most, a phone in a room one
    *("connections", "open connections from one address that is no proxy (0: any)", 512, 512),
    "These are more than {most} connections at once; close some.",
)
FROZEN_SECONDS = Limit(
    *("frozen_seconds", "seconds without a move of the server (0: any)", 60, 60),
    "Its process ends, so that systemd or a container starts it again.",
)
GUESSED_PASSWORDS = Limit(  # as many as there are people behind one address, in a school with a single one
    *("guessed_passwords", "wrong passwords a minute from one address", 30, 30),
    "Too many wrong passwords came from here; wait a minute.",
)

LIMITS = {limit.setting: limit for limit in list(globals().values()) if isinstance(limit, Limit)}
"""All limits, by their environment variables."""


def check_environment() -> None:
    """Raise InputError if the environment sets an invalid profile or limit."""
    if os.environ.get(PROFILE, "local") not in ("local", "public"):
        raise InputError(f"{PROFILE} must be local or public; set it to one of them, or leave it out.")
    for name in os.environ:
        if name.startswith(PREFIX) and name not in LIMITS:
            raise InputError(f"There is no limit {name[:60]}; the guide's page on limits lists those that there are.")
    for name, limit in LIMITS.items():
        if (given := os.environ.get(name, "")) and not limit.is_valid(given):
            raise InputError(f"{name} must be a whole number of at least {limit.least}; set it to one, or leave it out.")


def as_markdown() -> str:
    """The table of all limits, for the guide."""
    rows = ["| setting | bounds | local | public | beyond it |", "|---|---|---|---|---|"]
    words = {"given": "…", "most": "N", "what": "…", "What": "…"}
    for limit in LIMITS.values():
        values = [f"{value:,}" if value != NONE else "none" for value in (limit.local, limit.public)]
        cells = [f"`{limit.setting}`", limit.bounds, *values, limit.sentence.format(**words)]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)
