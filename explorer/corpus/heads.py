"""The atlas of heads: what each head does across a corpus, and the families of similar heads."""

from __future__ import annotations

from collections.abc import Generator, Hashable

from explorer.corpus import atlas_pictures, atlas_words
from explorer.corpus.atlas_check import atlas_check
from explorer.corpus.compute.atlas import in_steps, known_atlas
from explorer.corpus.compute.atlas_evidence import LEVEL
from explorer.corpus.compute.atlas_file import HeadAtlas
from explorer.corpus.compute.head_families import FAMILY_RULE
from explorer.corpus.pictures.head_atlas import tag_heatmap
from explorer.corpus.source import NO_FILE, CorpusView
from explorer.text import limits
from explorer.ui.layout import col, row
from explorer.ui.subject import Subject, head_name
from explorer.ui.view import Change, Content, Finding, NewInput, Why, caption, chart, check, part, prose, select, sentence

COST = 1.5  # of reading the corpus, relative to forward passes alone


class Heads(CorpusView):
    """All heads across a corpus: their families, a map, and the habits of the selected one."""

    name, question = "corpus/heads", "What does each head do everywhere?"
    start, fold = "Make the atlas", "How to read the atlas"
    layout = (
        row(
            col("grid", "about", "evidence", "map", "tags", width=5),
            col("title", "habit", "offsets", "specials", "found", "sentences", "syntax", "relations", "check", width=6),
        ),
    )
    grid = part("head_grid", marks=True)
    about = sentence(classes="caption")
    evidence = sentence(classes="caption")
    map = chart("Map of the heads by what they do", height=380)
    tags = chart("From part of speech to part of speech", height=400, optional=True)
    title = prose(classes="detail-title")
    habit = sentence(answer=True)
    offsets = chart("Mean weight by relative position", height=240)
    specials = caption("The bars count [CLS] and [SEP] too where they are so far away: part of what is far left is [CLS].")
    found = sentence(classes="caption")
    sentences = part("strips", height=260)
    syntax = sentence(classes="caption")
    relations = part("strips", height=320, sortable=True)
    check = check()
    help = caption(
        "Each picture is a head's mean weight by relative position, with [CLS] and [SEP] at the edges; the bar below has the "
        "colour of its family. Families: clusters of alike profiles (Ward 1963), named after their mean: "
        f"{FAMILY_RULE}. The map shows the same profiles by UMAP. Relations: the share of words whose strongest link to another "
        "word is their syntactic head, beside the best fixed offset (Clark et al. 2019, section 4), which is chosen on the same "
        "words. Interval: Wilson 1927, as if words were independent. Tests: the sign of each sentence's difference from the "
        "offset is drawn 10,000 times (Fisher's randomisation). Correction: Benjamini and Hochberg 1995, over every head, "
        f"relation and direction, q at most {LEVEL * 100:.0f}%. The halves are drawn at random: a head passes if it is "
        f"significant in the first, and holds if its clearest relation there is so in the second, p at most {LEVEL * 100:.0f}%.",
        more=True,
    )

    def first(self, subject: Subject) -> Subject:
        """Select the head that follows a relation best, unless one was picked."""
        if subject.chosen.picked or (atlas := self.known(subject)) is None or (best := atlas_words.best_of(atlas)) is None:
            return subject
        return subject.select(layer=best.layer + 1, head=best.head + 1, picked=False)

    def passes(self, subject: Subject) -> float:
        """The cost of reading the corpus once, in passes of the input."""
        return COST * self.corpus.words / subject.trace.kept if self.corpus else 0

    def key(self, subject: Subject) -> Hashable:
        """The cache key of the atlas; None without a corpus."""
        return self.corpus and (self.name, str(subject.model.checkpoint), self.corpus.key)

    def known(self, subject: Subject) -> HeadAtlas | None:
        """The atlas if it is in memory or ships with the app, and has its map."""
        if self.corpus is None:
            return None
        found = known_atlas(subject.model, self.corpus)
        return found if found is not None and len(found.points) else None

    def work(self, subject: Subject) -> Generator[tuple[str, float | None], None, HeadAtlas]:
        """Read the corpus, and compute the map. Raises InputError."""
        return (yield from in_steps(subject.model, self.chosen))

    def result(self, subject: Subject) -> HeadAtlas:
        """The atlas; blocks until it is made."""
        return self.known(subject) or super().result(subject)

    def waiting(self, subject: Subject) -> Content:
        """Empty parts; without a file, a sentence asks for one."""
        names = [name for name, one in self.parts.items() if one.kind not in ("caption", "prose") and not one.optional]
        return {**dict.fromkeys(names), "title": "", "about": "" if self.corpus else NO_FILE}

    def draw(self, subject: Subject, found: HeadAtlas) -> Content:
        layer, head = subject.selection.attention_layer, subject.selection.head_index
        shown = {
            "grid": atlas_pictures.grid(found, layer, head),
            "about": atlas_words.about(self.chosen, found),
            "evidence": atlas_words.evidence(found),
            "map": atlas_pictures.heads_map(found, layer, head),
            "title": f"**Layer {layer + 1}, head {head + 1}** across the corpus",
            "habit": atlas_words.habit(found, layer, head),
            "offsets": atlas_pictures.offsets(found, layer, head),
            "found": atlas_words.where(found, layer, head),
            "sentences": atlas_pictures.sentences(self.chosen, found, layer, head),
            "syntax": atlas_words.syntax(found),
            "relations": atlas_pictures.relations(found, layer, head),
            "check": atlas_check(subject.model, self.chosen, found, layer, head),
        }
        return shown | ({"tags": tag_heatmap(found.by_tag[layer, head], found.tags.tolist())} if len(found.tags) else {})

    def finding(self, subject: Subject) -> Finding | None:
        if (atlas := self.known(subject)) is None:
            return None
        layer, head = subject.selection.attention_layer, subject.selection.head_index
        why = Why("attention", "One head", {"layer": layer + 1, "head": head + 1})
        if subject.chosen.picked or (best := atlas_words.best_of(atlas)) is None:
            over = f"Over {atlas.sentences:,} sentence{'s' * (atlas.sentences != 1)}"
            return Finding(f"{over}, {head_name((layer, head))} {atlas_words.told(atlas, layer, head)}.", why)
        return Finding(atlas_words.overall(atlas, best), why)

    def on_grid(self, subject: Subject, index: list[int]) -> Change:
        """Select another head: [layer, head], zero-based."""
        layer, head = limits.check_cell(index)
        return select(layer=layer + 1, head=head + 1)

    def on_map(self, subject: Subject, customdata: object) -> Change:
        """Select another head by its index among all, layer by layer."""
        layer, head = divmod(limits.check_place(customdata), subject.model.capabilities.heads)
        return select(layer=layer + 1, head=head + 1)

    def on_sentences(self, subject: Subject, index: object) -> NewInput:
        atlas = self.result(subject)
        layer, head = subject.selection.attention_layer, subject.selection.head_index
        number = limits.check_integer(index, "the sentence", 0, atlas.examples.shape[2] - 1)
        at, word, _ = atlas.examples[layer, head, number].tolist()
        one = self.chosen.sentences[max(at, 0)]
        offsets = subject.model.encode(one.text).offsets
        token = next((place for place, span in enumerate(offsets) if span[1] > one.starts[word]), None) if word >= 0 else None
        return NewInput((one.text, ""), {"layer": layer + 1, "head": head + 1, "picked": True, "token": token})
