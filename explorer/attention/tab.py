"""The tab Attention: all heads at a glance, one head in full, all heads by numbers, and the flow through all layers."""

from explorer.attention.heads import Heads, HeadWhatIf, OneHead
from explorer.attention.metrics import HeadNumbers, HeadTable
from explorer.attention.rollout import Rollout
from explorer.attention.several import SeveralHeads
from explorer.ui.programs import program
from explorer.ui.tabs import Tab

TAB = Tab(
    "attention",
    "Attention",
    "Who looks at whom?",
    {
        "One head": [[[Heads, HeadWhatIf], OneHead]],
        "All heads by numbers": [[HeadNumbers, HeadTable]],
        "Several heads": [[SeveralHeads]],
        "Through all layers": [[Rollout]],
    },
    in_sight=2,
    steppers=("layer", "head"),
    without_steppers=("Several heads", "Through all layers"),
    programs={
        "attention/head": program("head", "look", "square_root"),
        "attention/metric": program("metrics", "metric"),
        "attention/metrics": program("metrics"),
        "attention/rollout": program("rollout", "up_to"),
    },
)
