"""The tab Its own head: the task head of a fine-tuned checkpoint, or a head that only its family was pre-trained with."""

from explorer.task_head.heads import OwnAnswer, OwnLabels, OwnTags, ReplacedPieces
from explorer.ui.tabs import Tab

TAB = Tab(
    "own-head",
    "Its own head",
    "What was it made to tell?",
    {"Its own head": [[OwnLabels], [OwnTags], [OwnAnswer], [ReplacedPieces]]},
    needs="own_head",
    optional=True,
)
