"""Other models than BERT in every tab: a family each, and what was fine-tuned for a task."""

import pytest

from explorer.tabs import TABS
from tests.browser.expecting import expect
from tests.browser.steps import chips, settled
from tests.families import TUNED, write_family, write_tuned
from tests.tabs import open_tab, opened_tab

LABELS = TUNED[0]
MODELS = {
    "modernbert": lambda folder: write_family(folder, "modernbert"),
    "labels": lambda folder: write_tuned(folder, "roberta", LABELS),
}  # the others without a browser, in test_every_view
OWN = {"labels": "#own-head-labels-verdict"}


@pytest.mark.own_page  # where every tab was open before, the walk takes longer than to open a page
@pytest.mark.parametrize("name", MODELS)
def test_every_tab_and_view_of_other_models(open_app, few_sentences, tmp_path, name):
    folder = MODELS[name](tmp_path / name)
    page = open_app()
    box = page.locator("#model-box input")
    box.fill(str(folder))
    box.press("Enter")
    own = page.locator("#tab-own-head-button")
    expect(chips(page).first).to_have_text("<s>" if name in OWN else "[CLS]")
    expect(own).to_be_attached(attached=name in OWN)
    for tab in TABS:
        if name not in OWN and (tab.optional or not tab.needs):  # those tabs the other model opens
            continue
        open_tab(page, tab.label)
        settled(page)
        for choice in tab.choices if len(tab.choices) > 1 else ():
            radio = page.locator(f"#{tab.id}-view").get_by_label(choice, exact=True)
            if radio.is_visible():  # not where the model has no head for the tab
                radio.check()
                settled(page)
        expect(page.locator(".toast-body")).to_have_count(0)
        if tab.id == "own-head":
            expect(page.locator(OWN[name])).to_be_visible()
        hint = page.locator(f"#{tab.id}-absent")
        if tab.needs == "fill_mask" and name in OWN:
            expect(hint).to_contain_text("has no masked-language-model head")
    page.locator("#model-box input").fill("bert-l6-h384-uncased")
    page.locator("#model-box input").press("Enter")
    expect(own).to_have_count(0)
    expect(chips(page).first).to_have_text("[CLS]")


@pytest.mark.own_page
def test_a_link_opens_a_tuned_checkpoint_at_its_own_head(open_app, tmp_path):
    folder = write_tuned(tmp_path / "model", "bert", LABELS)
    page = open_app(f"?model={folder}&a=the+man+went&tab=own-head")
    expect(page.locator("#own-head-labels-verdict")).to_contain_text("calm")
    expect(page.locator("#own-head-labels-check")).to_contain_text("✓")
    page = open_app("?a=the+man+went&tab=own-head")  # the bundled model has none
    expect(opened_tab(page)).to_have_text(TABS[0].label)


def test_another_model_and_another_text_stand_side_by_side(open_app, tmp_path):
    folder = write_family(tmp_path / "roberta", "roberta")
    page = open_app("?a=the+man+went+to+the+%5BMASK%5D&b=he+bought+milk&tab=side-by-side")
    expect(page.locator("#side-by-side-swaps-swaps")).to_contain_text("Beside it, for example, man → woman")
    expect(page.locator("#side-by-side-guesses-answers")).to_contain_text("There, token")
    model, text = (
        page.locator(f"#side-by-side-{box} input, #side-by-side-{box} textarea").first for box in ("other-model", "other-a")
    )
    model.fill("someone/else")
    model.press("Enter")
    expect(page.locator("#side-by-side-hint")).to_contain_text("not on this machine")
    model.fill(str(folder))
    model.press("Enter")
    choices = page.locator("#side-by-side-view")
    choices.get_by_label("Pieces", exact=True).check()
    expect(page.locator("#side-by-side-pieces-there .bx-token").first).to_have_text("<s>")
    expect(page.locator("#side-by-side-pieces-about")).to_contain_text("Words cut differently")
    choices.get_by_label("Hidden states", exact=True).check()
    expect(page.locator("#side-by-side-states-about")).to_contain_text("most like each layer here")
    model.fill("")
    page.get_by_role("button", name="he → she").click()
    expect(text).to_have_value("the man went to the [MASK]")
    expect(page.locator("#side-by-side-finding")).to_contain_text("changes most")
    page.get_by_role("button", name="put it back").click()
    expect(text).to_have_value("")
    text.fill("the woman went to the [MASK]")
    text.press("Enter")
    choices.get_by_label("Attention", exact=True).check()
    expect(page.locator("#side-by-side-attention-about")).to_contain_text("lies elsewhere")
    expect(page.locator("#side-by-side-attention-difference .main-svg").first).to_be_visible()
