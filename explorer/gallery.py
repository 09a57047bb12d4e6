"""A static site of twelve sentences, to try the Overview without installing anything: `python -m explorer.gallery OUT`.

Each page is the Overview's offline page of a sentence, in which every place can be traced and every layer unfolded, with the
picture of the run without each of its strongest links beside it.
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment

from explorer.bert import provenance
from explorer.bert.checkpoints import BUNDLED_FOLDER
from explorer.bert.explorer import Explorer, load
from explorer.bert.trace import Trace
from explorer.core.paths import ASSETS
from explorer.export.page_file import data_of, page
from explorer.export.place import slug
from explorer.overview.routes import Routes
from explorer.techniques.ablation import Run
from explorer.techniques.routes import Route, mixing, place_shares, routes
from explorer.ui.pictures.bars import change_of, whole_percent
from explorer.ui.subject import Subject
from explorer.ui.telling import link_name

FOLDER = ASSETS / "gallery"
CUTS = 10  # links of a sentence that can be cut: the strongest ones between two tokens
DRAWN = 90  # routes in a card's picture


class Cut(NamedTuple):
    """A link of the run, and the first word and its probability without it; `after` is what is left of the first guess."""

    link: Route
    word: str
    share: float
    after: float


class Sentence(NamedTuple):
    """A sentence with its first guess, the strongest routes to it, and its strongest links cut one by one."""

    title: str
    trace: Trace
    word: str
    share: float
    drawn: Sequence[Route]
    cuts: Sequence[Cut]

    @property
    def address(self) -> str:
        return f"{slug(self.title)}.html"

    @property
    def strongest(self) -> Cut:
        """The cut that takes most from the first guess."""
        return min(self.cuts, key=lambda cut: cut.after)

    def tell(self, cut: Cut) -> str:
        link = link_name(self.trace.tokens, cut.link, self.trace.mask_positions[0])
        change = change_of(self.word, self.share, cut.after)
        leads = f"; {cut.word} leads with {whole_percent(cut.share)}" if cut.word != self.word else ""
        return f"Without {link}, {change}{leads}."


def read_sentences(model: Explorer) -> Iterator[Sentence]:
    """The sentences of the gallery, as the model completes them."""
    for line in (FOLDER / "sentences.tsv").read_text("utf-8").splitlines():
        title, text = line.split("\t")
        trace = model.trace(text)
        (position, *_), shares = trace.mask_positions, mixing(Run(trace)).shares
        first = model.guesses(trace.states[-1][[position]], [position], 1)[0].candidates[0]
        places = place_shares(shares, position)
        cuts = [_cut(model, trace, position, first.id, link) for link in routes(shares, places, CUTS, others=True)]
        yield Sentence(title, trace, first.token, first.probability, routes(shares, places, DRAWN), cuts)


def _cut(model: Explorer, trace: Trace, position: int, piece: int, link: Route) -> Cut:
    vector = Run(trace, cuts=[(link.layer, link.query, link.key, None)]).states[-1][[position]]
    best = model.guesses(vector, [position], 1)[0].candidates[0]
    return Cut(link, best.token, best.probability, float(model.masked_lm(vector).softmax(-1)[0, piece]))


# ---- The page of a sentence.


def page_of(sentence: Sentence) -> str:
    """The Overview's offline page, with a picture for each cut."""
    view, subject = Routes(), Subject.of(sentence.trace)
    data = data_of([view], subject) | {"question": sentence.title}
    (picture,) = (part for part in data["views"][0]["parts"] if part["name"] == "picture")
    picture["variants"], tokens = [{"label": "nothing", "value": None, "told": ""}], sentence.trace.tokens
    for cut in sentence.cuts:
        layer, query, key, _ = cut.link
        changed, label = subject.select(cut=((layer, query, key, None),)), f"{tokens[key]} → {tokens[query]}, layer {layer + 1}"
        value = view.standing_alone(changed, view.compute(changed), unfolded=False)["picture"]
        picture["variants"].append({"label": label, "value": value, "told": sentence.tell(cut)})
    return page([data], home=("index.html", "All twelve sentences"))


# ---- The page of all.


def index_of(sentences: Sequence[Sentence], model: Explorer) -> str:
    template = Environment(autoescape=True, trim_blocks=True).from_string((FOLDER / "index.html").read_text("utf-8"))
    made, layers = provenance.describe(provenance.provenance_of(model)), model.capabilities.layers
    return template.render(sentences=sentences, layers=layers, percent=whole_percent, made=made)


def write_site(folder: Path, model: Explorer) -> list[Path]:
    """Write the site into a folder, which is made if it does not exist; returns its files."""
    folder.mkdir(parents=True, exist_ok=True)
    sentences = list(read_sentences(model))
    pages = {sentence.address: page_of(sentence) for sentence in sentences} | {"index.html": index_of(sentences, model)}
    for name, text in pages.items():
        (folder / name).write_text(text, "utf-8")
    return [folder / name for name in pages]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write a static site of twelve sentences to take apart without a server.")
    parser.add_argument("out", type=Path, help="the folder for it")
    asked = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    write_site(asked.out, load(str(BUNDLED_FOLDER)))
    print(f"Open {asked.out / 'index.html'}")
