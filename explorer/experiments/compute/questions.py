"""All questions of an experiment, by name."""

from explorer.bert.explorer import Explorer
from explorer.experiments.compute.attention import Attends, CutLinks
from explorer.experiments.compute.erasing import Erases
from explorer.experiments.compute.estimating import Estimated
from explorer.experiments.compute.heads_off import HeadsOff
from explorer.experiments.compute.lens import LensWins
from explorer.experiments.compute.likelihood import Likelihood
from explorer.experiments.compute.moving import Moves
from explorer.experiments.compute.origins import ComesFrom, FindsCue
from explorer.experiments.compute.patching import Patching
from explorer.experiments.compute.path import Paths
from explorer.experiments.compute.question import Question
from explorer.experiments.compute.targets import WORD
from explorer.text import limits

QUESTIONS: dict[str, type[Question]] = {
    kind.name: kind
    for kind in (
        *(HeadsOff, Estimated, Patching, Paths, CutLinks),  # interventions on parts
        *(Erases, Moves),  # on a concept
        *(LensWins, Attends, FindsCue, ComesFrom, Likelihood),  # observations
    )
}


def question_of(model: Explorer, name: str, way: str = "", target: str = WORD, seed: int = 0) -> Question:
    """The question of this name; "" is its first way. Raises InputError for another name, way or target; CapabilityError."""
    return QUESTIONS[limits.check_choice(name, "the question", list(QUESTIONS))](model, way, target, seed)
