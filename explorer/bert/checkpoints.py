"""Where models come from: the bundled one, a folder, the Hub or its local cache. Nothing here imports torch, which is slow."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path

import huggingface_hub
from huggingface_hub import constants
from huggingface_hub.errors import (
    GatedRepoError,
    HFValidationError,
    IncompleteSnapshotError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import validate_repo_id

from explorer.bert.families import Family, family_of, find_class, stem_of, task_of
from explorer.bert.folders import ADAPTER, VOCABULARY_FILES, describe_others, find_lack, instead_of
from explorer.bert.hub import EXAMPLE_ID, HUB_TIMEOUT, NOT_STORABLE, Place, Report, reporting_bar, weights_to_fetch
from explorer.core.errors import ModelError
from explorer.core.limits import is_public
from explorer.core.paths import ASSETS

BUNDLED = "bert-l6-h384-uncased"
BUNDLED_FOLDER = ASSETS / "models" / BUNDLED
TUNED = "tuned-"  # prefix of a tuned model's name in the model box: one that was trained here, and is kept in its run

TOKENIZER_FILES = (
    *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("vocab.txt", "vocab.json", "merges.txt"),
)


@dataclass(frozen=True)
class Checkpoint:
    """A folder that holds one model, under the name a person knows it by; `stamp` and `folder` identify its content."""

    name: str
    folder: Path
    family: Family
    stamp: float  # time of the latest change of a file: a folder that was rewritten is another checkpoint
    from_hub: bool = False  # public: its name may be shown to anyone

    def faulty(self, fault: str) -> ModelError:
        return faulty(fault, self.from_hub)

    def unreadable(self, part: str) -> ModelError:
        return self.faulty(f"The {part} of {self.name} cannot be read")


_sources: list[Callable[[str], Path | None]] = []


def add_source(source: Callable[[str], Path | None]) -> None:
    """Add a kind of model names: `source(name)` returns the folder, or None for names of another kind.

    It raises ModelError for a name of its kind that it does not know.
    """
    if source not in _sources:
        _sources.append(source)


def default_name() -> str:
    """The model that is opened first: BERT_EXPLORER_MODEL of the environment, or the bundled one."""
    return os.environ.get("BERT_EXPLORER_MODEL", "").strip() or BUNDLED


def find(name: str | os.PathLike[str] | None = None, report: Report | None = None) -> Checkpoint:
    """The checkpoint called `name`: the bundled model, a local folder, or an id on the Hub (local cache first).

    An id may have a revision, a branch, a tag or a commit: google-bert/bert-base-uncased@main. Raises ModelError, which says what
    was tried and what to do.
    """
    if isinstance(name, os.PathLike):
        name = os.fspath(name)
    if name is None or (isinstance(name, str) and not name.strip()):
        name = default_name()
    name = check_name(name.strip() if isinstance(name, str) else "")
    if folder := _find_here(name):
        return in_folder(name, folder)
    place = Place.of(name)
    try:
        validate_repo_id(place.id)
    except HFValidationError as error:
        raise ModelError(f"{name[:80]} is neither a folder nor an id on the hub such as {EXAMPLE_ID}.") from error
    return in_folder(name, _from_cache(place) or _download(place, report or (lambda share, what: None)), from_hub=True)


def is_here(name: str) -> bool:
    """Whether a model can be opened without the network, so that a visitor's choice need not start a download."""
    try:
        return _on_disk(name) is not None
    except ModelError:
        return False


def _on_disk(name: str) -> Path | None:
    """The folder of a model that needs no network, None if there is none. Raises ModelError as a source does."""
    return _find_here(name) or _from_cache(Place.of(name))


def _find_here(name: str) -> Path | None:
    """The folder of a local model by its name, or None. Raises ModelError as a source does."""
    return next((folder for source in (*_sources, here) if (folder := source(name))), None)


def is_name(given: object) -> bool:
    return isinstance(given, str) and 0 < len(given) <= 300 and given.isprintable()


def check_name(name: str) -> str:
    """The name unchanged. Raises ModelError for an impossible one: messages repeat it on one line."""
    if not is_name(name):
        raise ModelError(f"That is not a model's name. Try {EXAMPLE_ID} or a folder with a BERT checkpoint.")
    return name


def here(name: str) -> Path | None:
    """The folder of the bundled model, or the folder `name` if visitors may open it: they must not learn which exist."""
    if name == BUNDLED:
        return BUNDLED_FOLDER
    if is_public() and name != default_name():
        return None
    try:
        folder = Path(name).expanduser()
        return folder.resolve() if folder.is_dir() else None
    except (OSError, RuntimeError):
        return None


def in_folder(name: str, folder: Path, from_hub: bool = False) -> Checkpoint:
    """The checkpoint in a folder, under a name. Raises ModelError when it is incomplete or of an unknown family."""
    try:
        times = [path.stat().st_mtime for path in (folder, *filter(Path.is_file, folder.iterdir()))]
    except OSError:
        times = [0.0]  # the check says what is missing
    return _check_folder(name, folder, tuple(times), from_hub)


@lru_cache(maxsize=64)
def _check_folder(name: str, folder: Path, times: tuple[float, ...], from_hub: bool) -> Checkpoint:
    """The checkpoint in a folder: it is checked again when the folder or one of its files has another time of its last change."""
    if lacks := find_lack(folder):
        raise ModelError(f"{instead_of(name, folder, lacks)}.")
    family, _ = _kind(folder / "config.json", name, from_hub)
    return Checkpoint(name, folder, family, max(times[1:], default=0.0), from_hub)


def faulty(fault: str, from_hub: bool) -> ModelError:
    """An error about a faulty model: the fault, and what to do, which depends on where it came from."""
    return ModelError(f"{fault}. {'Fetch the model again' if from_hub else 'Save the model there again'}.")


def _kind(config: Path, name: str, from_hub: bool) -> tuple[Family, str]:
    """The family that a config.json names, and the class from which it was saved, '' for none.

    Raises ModelError when it cannot be read, or names an unknown family.
    """
    try:
        entries = json.loads(config.read_text("utf-8"))
        model_type, architectures = entries.get("model_type"), entries.get("architectures")
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise faulty(f"The config.json of {name} cannot be read", from_hub) from error
    return family_of(model_type, architectures, name), find_class(architectures)


def _from_cache(place: Place) -> Path | None:
    """The newest complete snapshot in the local cache, without the network; None if there is none."""
    try:
        folder = Path(huggingface_hub.snapshot_download(place.id, revision=place.revision, local_files_only=True))
    except IncompleteSnapshotError as error:  # expected: most files of a repository are not downloaded
        folder = Path(error.snapshot_path)
    except (OSError, ValueError):  # ValueError is raised for a damaged cache, and for what is no id
        return None
    return None if find_lack(folder) else folder


def describe(name: str) -> str:
    """A local model in a few words: the size of its weights, and its heads; for others that it will be downloaded."""
    try:
        if (folder := _on_disk(name)) is None:
            return "will be fetched"
        heads = _describe_heads(*_kind(folder / "config.json", name, from_hub=False))
        size = sum(path.stat().st_size for path in folder.iterdir() if path.suffix in (".safetensors", ".bin"))
        return f"{size / 1e6:,.0f} MB, {heads}"
    except (ModelError, OSError, ValueError):
        return ""


def list_cached() -> list[str]:
    """The ids of the models in the local cache that can be opened; none in the public profile, where visitors would see them."""
    if is_public():
        return []
    found = []
    for reference in Path(constants.HF_HUB_CACHE).glob("models--*/refs/main"):
        name = reference.parents[1].name.removeprefix("models--").replace("--", "/")
        try:
            folder = reference.parents[1] / "snapshots" / reference.read_text("utf-8").strip()
            if is_name(name) and not find_lack(folder):
                _kind(folder / "config.json", name, from_hub=True)
                found.append(name)
        except (OSError, ValueError, ModelError):
            continue  # another kind of repository, or incomplete
    return sorted(found)


def _download(place: Place, report: Report) -> Path:
    name, revision = str(place), place.revision
    report(0, f"asking the hub for {name}")
    try:
        info = huggingface_hub.HfApi().model_info(place.id, revision=revision, timeout=HUB_TIMEOUT, files_metadata=True)
        sizes = {entry.rfilename: entry.size or 0 for entry in info.siblings or []}
        if not weights_to_fetch(set(sizes)) or "config.json" not in sizes or ADAPTER in sizes:
            absent = "config.json" if "config.json" not in sizes else "weights that PyTorch can read"
            other = describe_others(name, sizes.keys())
            raise ModelError(f"{other or f'{name} on the hub has no {absent}. Name a model such as {EXAMPLE_ID}'}.")
        config = huggingface_hub.hf_hub_download(place.id, "config.json", revision=revision)
        heads = _describe_heads(*_kind(Path(config), name, from_hub=True))
        if not VOCABULARY_FILES & sizes.keys():
            raise ModelError(f"{name} on the hub has no tokenizer.json or vocab.txt. Try {EXAMPLE_ID}.")
        wanted = ["config.json", *TOKENIZER_FILES, *weights_to_fetch(set(sizes))]
        total = sum(size for file, size in sizes.items() if any(fnmatch(file, pattern) for pattern in wanted))
        report(0, f"fetching {total / 1e6:.0f} MB: {name}, with {heads}")
        bar = reporting_bar(report, total)
        folder = huggingface_hub.snapshot_download(place.id, revision=revision, allow_patterns=wanted, tqdm_class=bar)
        report(1, f"opening {name}")
    except GatedRepoError as error:
        raise ModelError(f"{name} is gated. Accept its terms on the hub and set HF_TOKEN, then try again.") from error
    except RevisionNotFoundError as error:
        raise ModelError(f"The hub has no revision {revision} of {place.id}. Try {place.id} without it.") from error
    except RepositoryNotFoundError as error:
        raise ModelError(f"The hub has no model {place.id}, or it is private. Try {EXAMPLE_ID}.") from error
    except Exception as error:
        if isinstance(error, OSError) and error.errno in NOT_STORABLE:
            raise ModelError(f"{name} cannot be stored in the local cache. Make room, or set HF_HOME.") from error
        # hf_xet raises RuntimeError; errors of the Hub's HTTP client, which we do not import, are recognized by their module
        if isinstance(error, OSError | ValueError | RuntimeError) or type(error).__module__.startswith("http"):
            here = f"{name} is not in the local cache and the hub cannot be reached"
            raise ModelError(f"{here}. Connect to the internet once, or name a folder.") from error
        raise
    return Path(folder)


def _describe_heads(family: Family, name: str) -> str:
    """The heads that a checkpoint of a family should have, judged by the class from which it was saved."""
    if task_of(name):
        return "a head for one task, and no masked-LM head"
    whole = name == family.pretraining_class
    heads = {
        "a masked-LM head": bool(family.masked_lm_head) and (whole or name.endswith("ForMaskedLM")),
        "a head for pairs": bool(family.pair_head) and whole,
        "a head for replaced pieces": bool(family.replaced_head) and whole,
    }
    plain = not name.isprintable() or name in ("", f"{stem_of(family.pretraining_class)}Model")
    other = "no head" if plain else f"a head of {name[:40]}, which is not read"
    return " and ".join(head for head, there in heads.items() if there) or other
