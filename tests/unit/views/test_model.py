import explorer
from explorer.views.model import TAB
from explorer.views.model.architecture import Configuration, ModuleTree, Parameters, Summary
from explorer.views.subject import Subject


def test_every_part_that_is_computed_is_declared(tiny):
    for view in TAB.views:
        assert set(view().compute(Subject.of(tiny.trace("the man")))) == set(view.parts), view.name


def test_the_model_is_described(bundled):
    subject = Subject.of(bundled.trace("the man"))
    summary = Summary().compute(subject)["summary"]
    assert "**22,893,116** parameters" in summary
    assert "pre-training heads: masked LM and next sentence." in summary
    (bars,) = Parameters().compute(subject)["bars"].data
    assert sum(bars.x) == bundled.capabilities.parameters
    assert ["hidden_size", "384"] in Configuration().compute(subject)["table"]
    assert ModuleTree().compute(subject)["tree"].startswith("BertForPreTraining")


def test_a_model_without_heads_says_so(variant_folders):
    subject = Subject.of(explorer.load(variant_folders["no_pooler"]).trace("the man"))
    assert "pre-training heads: none." in Summary().compute(subject)["summary"]
