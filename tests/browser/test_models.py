"""Other models than BERT: another family beside it, and what was fine-tuned for a task; test_every_view has all families."""

from tests.browser.expecting import expect
from tests.browser.steps import open_choice
from tests.families import TUNED, write_family, write_tuned


def test_a_link_opens_a_tuned_checkpoint_at_its_own_head(open_app, tmp_path):
    folder = write_tuned(tmp_path / "model", "bert", TUNED[0])
    page = open_app(f"?model={folder}&a=the+man+went&tab=own-head")
    expect(page.locator("#own-head-labels-verdict")).to_contain_text("calm")
    expect(page.locator("#own-head-labels-check")).to_contain_text("✓")
    page.get_by_role("tab", name="Fill-mask", exact=True).click()
    expect(page.locator("#fill-mask-hint")).to_contain_text("has no masked-language-model head")


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
    open_choice(page, "side-by-side", "Pieces")
    expect(page.locator("#side-by-side-pieces-there .bx-token").first).to_have_text("<s>")
    expect(page.locator("#side-by-side-pieces-about")).to_contain_text("Words cut differently")
    open_choice(page, "side-by-side", "Hidden states")
    expect(page.locator("#side-by-side-states-about")).to_contain_text("Each model has its own space")
    model.fill("")
    page.get_by_role("button", name="he → she").click()
    expect(text).to_have_value("the man went to the [MASK]")
    expect(page.locator("#side-by-side-finding")).to_contain_text("changes most")
    page.get_by_role("button", name="put it back").click()
    expect(text).to_have_value("")
    text.fill("the woman went to the [MASK]")
    text.press("Enter")
    open_choice(page, "side-by-side", "Attention")
    expect(page.locator("#side-by-side-attention-about")).to_contain_text("lies elsewhere")
    expect(page.locator("#side-by-side-attention-difference .main-svg").first).to_be_visible()
