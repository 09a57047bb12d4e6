"""Every view of every kind of model that can be read: there is something to see, its numbers leave, and nothing is raised."""

import json

import pytest

import explorer
from explorer.export.tables import as_data
from explorer.finetune import sources
from explorer.finetune.compute.from_table import built_in
from explorer.tabs import TABS
from explorer.training.tagging import TaggedExamples
from explorer.ui.attribution import AttributionView
from explorer.ui.long_view import LongView
from explorer.ui.subject import Subject
from explorer.ui.view import MARKDOWN
from tests.at_night import at_night
from tests.contents import opened
from tests.families import KINDS, TUNED, write_family, write_tuned

pytestmark = pytest.mark.usefixtures("few_sentences", "few_tagged")

MODELS = {
    **{name: lambda folder, name=name: write_family(folder, name) for name in KINDS},
    **{f"bert for {task}": lambda folder, task=task: write_tuned(folder, "bert", task) for task in TUNED},
}


@pytest.fixture
def few_tagged(monkeypatch):
    """Each model learns the names in a tenth of the sentences: what is seen is the same in kind."""
    some = TaggedExamples(built_in("names").sentences[::10])
    monkeypatch.setattr(sources, "built_in", lambda name: some)


STILL = (*MARKDOWN, "button")  # kinds of parts that say the same for every input
LEAST_ALIKE = ("distilbert", "modernbert", "electra-discriminator", "bert for ForTokenClassification")


@pytest.mark.parametrize("name", at_night(MODELS, but=LEAST_ALIKE))
def test_every_view_has_something_to_show(tmp_path, name):
    model = explorer.load(str(MODELS[name](tmp_path / "model")))
    subject = Subject.of(model.trace("the man went to the [MASK].", "he bought milk."))
    for tab in [tab for tab in TABS if tab.needs is None or getattr(model.capabilities, tab.needs)]:
        for kind in tab.views:
            view = opened(kind.name, subject)
            if view.unless(subject):
                continue
            content = view.open(view.first(subject))
            fixed = [name for name, part in kind.parts.items() if part.kind in MARKDOWN]
            assert content.keys().isdisjoint(fixed), "no answer of the page may set a part that is the same for every input"
            assert content.keys() <= {*kind.parts, *kind.settings}
            if not isinstance(view, LongView) and tab.id != "fine-tune":  # where no training has run yet
                needed = {name for name, part in kind.parts.items() if part.kind not in STILL and not part.optional}
                assert needed - {"status"} <= content.keys(), kind.name  # of work that has not begun
            if content.get("check") and not isinstance(view, AttributionView):  # whose sum may need more steps
                assert content["check"]["text"].startswith("✓"), kind.name
            for value in content.values():
                value() if callable(value) else value
            json.dumps(as_data(view, subject, content, None), allow_nan=False)
            view.finding(subject)
