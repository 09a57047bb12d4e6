"""Cached rounds of the pre-training game, shared by a picture and its finding."""

from collections.abc import Hashable

from explorer.bert.explorer import Explorer
from explorer.core.cache import OnceCache
from explorer.fill_mask.compute.masking_game import Round, Rules, play

_rounds: OnceCache[Hashable, Round] = OnceCache(16)


def round_of(model: Explorer, texts: tuple[str, str], rules: Rules, label: int | None = None) -> Round:
    """The round with these rules on a pair of texts; `label` as for `play`. Raises InputError or CapabilityError."""
    return _rounds.get((model.checkpoint, texts, rules, label), lambda: play(model, *texts, rules, label))
