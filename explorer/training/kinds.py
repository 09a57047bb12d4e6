"""The kinds of task that there are, by the name that files have for them."""

from typing import NamedTuple

from explorer.training.answering import Answerer
from explorer.training.predictor import Classifier, Predictor, Regressor
from explorer.training.run import HeldOut, HeldOutAnswers, HeldOutNumbers, HeldOutTags, HeldOutTexts
from explorer.training.tagger import Tagger


class Kind(NamedTuple):
    """What is kept of a task of this kind."""

    predictor: type[Predictor]
    held_out: type[HeldOut]
    script: str = "predict.py"  # beside this file: what answers without this app, as predict.py in a zip


_ALL = (
    Kind(Classifier, HeldOutTexts),
    Kind(Regressor, HeldOutNumbers),
    Kind(Tagger, HeldOutTags, "predict_tags.py"),
    Kind(Answerer, HeldOutAnswers, "predict_answer.py"),
)
KINDS = {kind.predictor.kind: kind for kind in _ALL}
