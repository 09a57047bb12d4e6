"""The lens: what BERT would have said after each layer."""

import gradio as gr

from explorer.figures.masked_lm import followed_words
from explorer.page.components import Notice, PlotlyChart, WordGrid
from explorer.page.wiring import Page, Updates, View, typed_in
from explorer.tabs.parts import Part, asked_blank, check_line, no_blank
from explorer.text import limits

MOST_COLUMNS = 24
MOST_WORDS = 4


def build(page: Page) -> Part:
    """Make the view."""
    with gr.Column(visible=False) as column:
        table = WordGrid(elem_id="lens-table")
        about = Notice()
        gr.Markdown(
            "Each row reads one hidden state with the masked-LM head, as if it were the last (the logit lens of "
            "nostalgebraist, 2020, for BERT). Darker or brighter: more probable, 0 to 100 %. Early rows are read with a "
            "head that was trained for the last row only. Click a word to follow that column.",
            elem_classes="caption",
        )
        with gr.Row(elem_classes="overview-detail"):
            with gr.Column(scale=3, min_width=240):
                words = gr.Textbox("", label="Follow words", placeholder="the two best guesses", elem_id="follow-words")
                said = Notice(elem_id="lens-said")
            with gr.Column(scale=8, min_width=320):
                chart = PlotlyChart(height=300, label="Words through the layers", elem_id="followed")
        check = Notice(elem_classes="check")

    def follow(view: View, words: str) -> Updates:
        from explorer.techniques.lens import follow as followed
        from explorer.techniques.targets import piece_of

        position = _column(view)
        typed = limits.check_optional_text(words, "the words").replace("/", ",").split(",")
        pieces = [piece_of(view.model, word) for word in typed if word.strip()][:MOST_WORDS]
        if not pieces:
            best = view.model.guesses(view.trace.states[-1][[position]], [position], 2)[0].candidates
            pieces = [(candidate.id, candidate.token) for candidate in best]
        names = [name for _, name in pieces]
        shares, ranks = followed(view.model, view.trace, position, [id for id, _ in pieces])
        settled = _settled(ranks[:, 0])
        told = f"At position {position}, {names[0]} ends at rank {ranks[-1, 0]:,} and "
        told += (
            "is first only at the end." if settled == len(ranks) - 1 else f"stays there from hidden state {settled} on."
        )
        return {chart: followed_words(names, shares, ranks), said: told}

    def show(view: View, words: str) -> Updates:
        from explorer.techniques.lens import lens, lens_error

        position, trace = _column(view), view.trace
        first = max(0, min(position - MOST_COLUMNS // 2, trace.kept - MOST_COLUMNS))
        shown = range(first, min(first + MOST_COLUMNS, trace.kept))
        found = lens(trace, shown)
        cells = [
            [
                (view.model.pieces([id])[0], share, f"{share:.1%}, the final guess is at rank {rank:,}")
                for id, share, rank in zip(ids.tolist(), shares.tolist(), ranks.tolist(), strict=True)
            ]
            for ids, shares, ranks in zip(
                found.ids[..., 0], found.probabilities[..., 0], found.final_ranks, strict=True
            )
        ]
        rows = ["embeddings", *(f"layer {layer}" for layer in range(1, len(cells)))]
        columns = [trace.tokens[place] for place in shown]
        error = lens_error(trace, shown)
        cut = "" if len(shown) == trace.kept else f"Positions {shown[0]} to {shown[-1]} of {trace.kept} are shown."
        return {
            table: WordGrid.pack("after", columns, rows, cells, marked=position - first),
            about: cut,
            check: check_line(error, "the last row is the model's own prediction, logit by logit"),
            **follow(view, words),
        }

    def pick(view: View, cell: list[int], words: str) -> Updates:
        position = _column(view)
        first = max(0, min(position - MOST_COLUMNS // 2, view.trace.kept - MOST_COLUMNS))
        chosen = limits.check_integer(first + int(cell[1]), "the position", 0, view.trace.kept - 1)
        view = page.reselect(view, token=chosen)
        return {page.selection: view.selection, **show(view, words)}

    outputs = [table, about, check, chart, said]
    page.on_pick([table.select], pick, [page.selection, *outputs], [words])
    page.on([words.change], follow, [chart, said], [words], **typed_in(words))
    return Part("Lens", column, show, outputs, [words])


def _column(view: View) -> int:
    """The chosen token, else the first blank, else the first word."""
    if view.selection.token is not None:
        return view.selection.token
    return asked_blank(view) if not no_blank(view) else min(1, view.trace.kept - 1)


def _settled(ranks: list[int]) -> int:
    """The hidden state from which on the rank no longer changes."""
    last = len(ranks) - 1
    while last > 0 and ranks[last - 1] == ranks[-1]:
        last -= 1
    return last
