"""Many pairs scored in a table, and candidates ranked as the next sentence."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import pandas as pd

from explorer.base.errors import InputError
from explorer.page.components import Bars, Notice
from explorer.page.wiring import TRAINING, Page, Updates, View
from explorer.tabs.parts import Part
from explorer.text.lines import pairs_from_lines, split_lines
from explorer.text.pairs import MOST_PAIRS, check_pairs, read_pairs
from explorer.text.tables import FILE_TYPES

PAIRS = [
    ("The baby would not stop crying.", "Her father picked her up and sang to her."),
    ("The baby would not stop crying.", "The bridge was finished in 1932."),
    ("We ran out of flour this morning.", "I will stop at the shop on my way home."),
    ("We ran out of flour this morning.", "Saturn is the second largest planet."),
    ("He bought a ticket at the counter.", "Then he waited on the platform for his train."),
    ("He bought a ticket at the counter.", "Most frogs lay their eggs in water."),
]
COLUMNS = ["A", "B", "IsNext", "Logit difference"]


def build_table(page: Page) -> Part:
    """Make the view of many pairs."""
    with gr.Column(visible=False) as column:
        table = gr.Dataframe(
            value=pd.DataFrame([[a, b, None, None] for a, b in PAIRS], columns=COLUMNS),
            headers=COLUMNS,
            datatype=["str", "str", "number", "number"],
            static_columns=[2, 3],
            column_widths=["38%", "38%", "11%", "13%"],
            interactive=True,
            wrap=True,
            label="Change the pairs or add rows; IsNext is a probability (0 to 1), sorted from likely to unlikely",
            elem_id="pairs",
        )
        with gr.Row(elem_classes="controls"):
            score = gr.Button("Score the pairs", size="sm", variant="primary", elem_id="score-pairs")
            export = gr.Button("Download as CSV", size="sm", elem_id="export-pairs")
        status = Notice(elem_id="pairs-status", keep_height=True)
        with gr.Accordion("Bring your own", open=False), gr.Row(elem_classes="overview-detail"):
            lines = gr.Textbox(
                "", lines=4, label="One pair a line: A, then a tab or ||, then B", elem_id="pair-lines", scale=6
            )
            file = gr.File(
                file_types=[*FILE_TYPES],
                label="CSV, TSV or JSON lines with the columns A,B",
                elem_id="pair-file",
                scale=4,
                height=130,
            )
        gr.Markdown(
            "Click a column's head to sort by it. The logit difference (IsNext − NotNext, no bounds) still tells pairs "
            "apart where the probabilities all say 1 or 0.",
            elem_classes="caption",
        )

    def show(view: View, pairs: pd.DataFrame) -> Updates:
        if not pairs["IsNext"].isna().all():
            return {table: gr.skip()}
        return {table: scored(view, pairs_of(pairs))}

    def score_table(view: View, pairs: pd.DataFrame) -> Iterator[Updates]:
        yield from _score_in_steps(view, pairs_of(pairs))

    def score_lines(view: View, text: str) -> Iterator[Updates]:
        yield from _score_in_steps(view, pairs_from_lines(text))

    def score_file(view: View, path: str | None) -> Iterator[Updates]:
        if path:
            yield from _score_in_steps(view, read_pairs(Path(path)))

    def _score_in_steps(view: View, pairs: list[tuple[str, str]]) -> Iterator[Updates]:
        rows = []
        for number, pair in enumerate(pairs, start=1):
            rows.append(_row(view, *pair))
            if number % 10 == 0:
                yield {status: f"{number} of {len(pairs)} pairs."}
        yield {table: _frame(rows), status: f"{len(pairs)} pairs scored."}

    page.on([score.click], score_table, [table, status], [table], **TRAINING)
    page.on([lines.submit, lines.blur], _only_text(score_lines), [table, status], [lines], **TRAINING)
    page.on([file.change], score_file, [table, status], [file], **TRAINING)
    export.click(None, table, js="(table) => BertPage.downloadCsv(table, 'pairs.csv')", api_visibility="private")
    return Part("Many pairs", column, show, [table], [table])


def _only_text(handler: Any) -> Any:
    """Nothing happens while nothing was typed."""

    def run(view: View, text: str) -> Iterator[Updates]:
        if str(text or "").strip():
            yield from handler(view, text)

    return run


def pairs_of(table: pd.DataFrame) -> list[tuple[str, str]]:
    """The sentences in the table. Raises InputError when a row has one only."""
    rows = table[["A", "B"]].fillna("").itertuples(index=False)
    return check_pairs([(str(a or "").strip(), str(b or "").strip()) for a, b in rows], "row")


def scored(view: View, pairs: list[tuple[str, str]]) -> pd.DataFrame:
    """The table of these pairs, the likeliest first."""
    return _frame([_row(view, a, b) for a, b in pairs])


def _row(view: View, a: str, b: str) -> list[Any]:
    answer = view.model.next_sentence(a, b)
    return [a, b, round(answer.is_next, 4), round(answer.logits[0] - answer.logits[1], 2)]


def _frame(rows: list[list[Any]]) -> pd.DataFrame:
    return pd.DataFrame(sorted(rows, key=lambda row: -row[3]), columns=COLUMNS)


def build_ranking(page: Page) -> Part:
    """Make the view that finds the next sentence."""
    candidates = list(dict.fromkeys(b for _, b in PAIRS))
    with gr.Column(visible=False) as column, gr.Row(elem_classes="overview-detail"):
        with gr.Column(scale=5, min_width=300):
            lines = gr.Textbox(
                "\n".join(candidates), lines=7, max_lines=14, label="Candidates for B, one a line", elem_id="candidates"
            )
            with gr.Row(elem_classes="controls"):
                find = gr.Button("Find the next sentence", size="sm", variant="primary", elem_id="find-next")
        with gr.Column(scale=6, min_width=320):
            said = Notice(elem_id="ranking-said", keep_height=True)
            ranking = Bars(elem_id="ranking")
            gr.Markdown(
                "The probability of IsNext (0 to 100 %) for A and each candidate, ranked by the difference of the two "
                "logits, which is given on the right. Each pair is judged by itself: the bars do not sum to 100 %.",
                elem_classes="caption",
            )

    def show(view: View, lines: str) -> Updates:
        texts = split_lines(lines)
        if view.text_b.strip():
            texts.append(view.text_b.strip())
        texts = list(dict.fromkeys(texts))
        if not 1 <= len(texts) <= MOST_PAIRS:
            raise InputError(f"Type 1 to {MOST_PAIRS} candidates, one a line; there are {len(texts)}.")
        rows = _frame([_row(view, view.text_a, text) for text in texts])
        bars = [(text, share, f"{difference:+.2f}") for _, text, share, difference in rows.itertuples(index=False)]
        best = f"Best of {len(bars)}: {bars[0][0]}"
        return {ranking: Bars.pack(bars), said: best[:300]}

    page.on([find.click], show, [ranking, said], [lines], **TRAINING)
    return Part("Find the next sentence", column, show, [ranking, said], [lines])
