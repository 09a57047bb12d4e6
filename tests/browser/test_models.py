"""Other models than BERT: another family beside it, and what was fine-tuned for a task; test_every_view has all families."""

from tests.browser.expecting import expect
from tests.families import TUNED, write_tuned


def test_a_link_opens_a_tuned_checkpoint_at_its_own_head(open_app, tmp_path):
    folder = write_tuned(tmp_path / "model", "bert", TUNED[0])
    page = open_app(f"?model={folder}&a=the+man+went&tab=own-head")
    expect(page.locator("#own-head-labels-verdict")).to_contain_text("calm")
    expect(page.locator("#own-head-labels-check")).to_contain_text("✓")
    page.get_by_role("tab", name="Fill-mask", exact=True).click()
    expect(page.locator("#fill-mask-hint")).to_contain_text("has no masked-language-model head")
