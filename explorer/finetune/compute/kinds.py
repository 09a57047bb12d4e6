"""The kinds of task, by their names in files."""

from typing import NamedTuple

from explorer.finetune.compute.answering import Answerer
from explorer.finetune.compute.predictor import Classifier, Predictor, Regressor
from explorer.finetune.compute.run import HeldOut, HeldOutAnswers, HeldOutNumbers, HeldOutTags, HeldOutTexts
from explorer.finetune.compute.tagger import Tagger


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
