"""The tabs in their order on the page; each tab has a folder, each view in it a class."""

from collections.abc import Mapping

from explorer.attention import tab as attention
from explorer.corpus import tab as corpus
from explorer.experiments import tab as experiments
from explorer.fill_mask import tab as fill_mask
from explorer.finetune import tab as finetune
from explorer.hidden_states import tab as hidden_states
from explorer.inside_head import tab as inside_head
from explorer.model_card import tab as model_card
from explorer.next_sentence import tab as next_sentence
from explorer.overview import tab as overview
from explorer.projection import tab as projection
from explorer.side_by_side import tab as side_by_side
from explorer.task_head import tab as task_head
from explorer.tokens import tab as tokens
from explorer.ui.tabs import Tab

SECTIONS: Mapping[str, tuple[Tab, ...]] = {
    "Overview": (overview.TAB,),
    "Look inside": (tokens.TAB, attention.TAB, inside_head.TAB, hidden_states.TAB),
    "Predict": (fill_mask.TAB, next_sentence.TAB, task_head.TAB),
    "Across sentences": (projection.TAB, corpus.TAB, side_by_side.TAB, experiments.TAB),
    "Train": (finetune.TAB,),
    "Model": (model_card.TAB,),
}
TABS = tuple(tab for tabs in SECTIONS.values() for tab in tabs)
FIRST_TAB = overview.TAB.id  # the tab that a page opens with
VIEWS = {view.name: view for tab in TABS for view in tab.views}
