"""Scripts of what an answer depends on: attribution, heads switched off, what-if, patching; for a masked word or a pair."""

from typing import Any

from explorer.ui.names import Names
from explorer.ui.statements import Source
from explorer.ui.subject import Selection, Subject
from explorer.ui.writing import Script


def asked(target: Any, subject: Subject) -> dict[str, Any]:
    """The values of a target's word, foil and position; no position for a pair."""
    if target.head != "fill_mask":
        return {"position": None, "word": None, "foil": None}
    pieces = subject.model.tokenizer.convert_ids_to_tokens([target.id, *([] if target.foil is None else [target.foil])])
    return {"position": target.position, "word": pieces[0], "foil": None if target.foil is None else pieces[1]}


def off_and_cut(selection: Selection) -> Source:
    """The heads switched off and weights cut, as dictionaries by layer."""
    off: dict[int, list[str]] = {}
    for layer, head in selection.off:
        off.setdefault(layer, []).append(f"{head}")
    for layer, query, key, of in selection.cut:
        off.setdefault(layer, []).append(f"({'slice(None)' if of is None else of}, {query}, {key})")
    written = ", ".join(f"{layer}: [{', '.join(places)}]" for layer, places in off.items())
    return Source(f"{{{written}}}")


def changes(subject: Subject) -> dict[str, Any]:
    """The values of all changes to the run."""
    chosen, names = subject.selection, Names(subject.model)
    text_a, text_b = names.texts(subject.swapped.text_a, subject.swapped.text_b) if chosen.swap else (None, None)
    layer, token = chosen.patch or (None, None)
    swapped = {"swapped_a": text_a, "swapped_b": text_b or None}
    return {**swapped, "off": off_and_cut(chosen), "patch_layer": layer, "patch_token": token}


def attribution(view: Any, subject: Subject) -> Script | None:
    """A score for each token, by the chosen method and by occlusion."""
    values = asked(view.target(subject), subject)
    return Script("attribution.py", steps=int(view.steps), **values)


def heads(view: Any, subject: Subject) -> Script | None:
    """The answer without each head, and without those switched off or cut."""
    chosen, values = subject.selection, asked(view.target(subject), subject)
    changed = bool(chosen.off or chosen.cut)
    return Script(
        "heads.py", changed=changed, off=off_and_cut(chosen), keeps_attention=False, patch_layer=None, patch_token=None, **values
    )


def what_if(view: Any, subject: Subject) -> Script | None:
    """The answer before and after something is switched off, swapped, patched or cut."""
    question = view.asked(subject)
    if question is None:
        return None
    values = changes(subject) | asked(question.target, subject) | {"changed": subject.selection.is_changed}
    return Script("what_if.py", masked=question.hidden, keeps_attention=False, **values)


def patching(view: Any, subject: Subject) -> Script | None:
    """One hidden state of the clean run at a time, put into the corrupted one."""
    clean, corrupted = view.pair(subject)
    if clean.kept != corrupted.kept:
        return None  # the view says what to do
    texts, others = ((one.encoding.text_a, one.encoding.text_b) for one in (clean, corrupted))
    other_a, other_b = Names(subject.model).texts(*others) if texts != others else (None, None)
    differing = (place for place, (one, other) in enumerate(zip(clean.ids, corrupted.ids, strict=True)) if one != other)
    text_a, text_b = Names(subject.model).texts(*texts)
    values = asked(view.target(subject, clean, corrupted), subject)
    given: dict[str, Any] = {"text_a": text_a, "text_b": text_b or None, "other_a": other_a, "other_b": other_b or None}
    return Script("patching.py", hidden_token=next(differing, 0), **given, **values)


CODE = {
    "fill-mask/attribution": attribution,
    "next-sentence/attribution": attribution,
    "fill-mask/heads": heads,
    "next-sentence/heads": heads,
    "overview/what-if": what_if,
    "attention/what-if": what_if,
    "fill-mask/what-if": what_if,
    "fill-mask/patching": patching,
}
