"""The kinds of task, by their names in files."""

from typing import NamedTuple

from explorer.training.answering import Answerer
from explorer.training.predictor import Classifier, Predictor, Regressor
from explorer.training.run import HeldOut, HeldOutAnswers, HeldOutNumbers, HeldOutTags, HeldOutTexts
from explorer.training.tagger import Tagger


class Kind(NamedTuple):
    """The classes and the script that belong to a kind of task."""

    predictor: type[Predictor]
    held_out: type[HeldOut]
    script: str = "predict.py"  # in this folder: the script that goes into the zip, which predicts without this app


_ALL = (
    Kind(Classifier, HeldOutTexts),
    Kind(Regressor, HeldOutNumbers),
    Kind(Tagger, HeldOutTags, "predict_tags.py"),
    Kind(Answerer, HeldOutAnswers, "predict_answer.py"),
)
KINDS = {kind.predictor.kind: kind for kind in _ALL}
