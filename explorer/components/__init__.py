from explorer.components.attention_lines import AttentionLines
from explorer.components.bars import Bars
from explorer.components.base import HEAD
from explorer.components.head_grid import HeadGrid
from explorer.components.meter import Meter
from explorer.components.notice import Notice
from explorer.components.plotly_chart import PlotlyChart
from explorer.components.ranking import Ranking
from explorer.components.strip_table import Column, Row, StripTable
from explorer.components.switch_board import SwitchBoard
from explorer.components.token_row import TokenRow
from explorer.components.word_grid import WordGrid

__all__ = [
    "HEAD",
    "AttentionLines",
    "Bars",
    "Column",
    "HeadGrid",
    "Meter",
    "Notice",
    "PlotlyChart",
    "Ranking",
    "Row",
    "StripTable",
    "SwitchBoard",
    "TokenRow",
    "WordGrid",
]
