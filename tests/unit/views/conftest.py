import pytest

from explorer.finetune.outcome import Outcome
from explorer.ui.subject import Subject


@pytest.fixture(scope="module")
def subject(bundled):
    """No text at all: Fine-tune needs none. Views that need one have a subject of their own."""
    return Subject(bundled.name, "", "")


@pytest.fixture(scope="module")
def opened(subject):
    """The run with which Fine-tune opens."""
    return Outcome().find(subject)
