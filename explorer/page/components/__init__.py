from explorer.page.components.attention_lines import AttentionLines
from explorer.page.components.bars import Bars
from explorer.page.components.base import HEAD
from explorer.page.components.head_grid import HeadGrid
from explorer.page.components.meter import Meter
from explorer.page.components.notice import Notice
from explorer.page.components.plotly_chart import PlotlyChart
from explorer.page.components.ranking import Ranking
from explorer.page.components.strip_table import StripTable
from explorer.page.components.switch_board import SwitchBoard
from explorer.page.components.token_row import TokenRow
from explorer.page.components.word_grid import WordGrid

__all__ = [
    "HEAD",
    "AttentionLines",
    "Bars",
    "HeadGrid",
    "Meter",
    "Notice",
    "PlotlyChart",
    "Ranking",
    "StripTable",
    "SwitchBoard",
    "TokenRow",
    "WordGrid",
]
