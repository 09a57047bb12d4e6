"""Pictures in steps: they play where motion is wanted, and are walked by hand everywhere."""

from tests.browser.expecting import expect
from tests.browser.steps import chips, settled

HEAD = "?tab=inside-head&view=step-by-step&a=The+keys+to+the+old+cabinet+are+on+the+table.&b=&layer=4&head=2&token=7"


def test_a_query_walks_past_its_keys_by_hand(open_app):
    page = open_app(HEAD)
    box = page.locator("#inside-head-walk-steps")
    said, where = box.locator(".bx-step-said"), box.locator(".bx-step-where")
    expect(where).to_have_text("29 of 29")
    expect(said).to_contain_text("it is the head’s output")
    expect(box.get_by_role("button", name="Play")).to_be_hidden()
    heights = {box.bounding_box()["height"]}
    box.get_by_label("Go to a part").select_option("Scores")
    expect(where).to_have_text("2 of 29")
    box.get_by_role("button", name="Step forward").click()
    page.keyboard.press("ArrowRight")
    expect(said).to_contain_text("“keys”: the 32 products of q and k")
    expect(box.locator("tr.bx-now th")).to_have_text("keys")
    expect(box.locator("tbody tr").nth(4).locator("td").nth(2)).to_have_class("bx-of-number bx-unseen")
    heights.add(box.bounding_box()["height"])
    box.get_by_label("Go to a part").select_option("Mix")
    expect(said).to_contain_text("of the value v of “[CLS]” is added")
    heights.add(box.bounding_box()["height"])
    assert len(heights) == 1, "nothing moves"
    chips(page).nth(2).click()
    expect(box).to_contain_text("query keys")
    expect(where).to_have_text("17 of 29")
    box.get_by_role("button", name="cabinet").click()
    expect(page.locator("#inside-head-walk-about")).to_contain_text("'cabinet' (token 6)")


def test_a_query_walks_by_itself_where_motion_is_wanted(new_page, served):
    page = new_page(reduced_motion="no-preference")
    page.goto(f"{served}/{HEAD}")
    box = page.locator("#inside-head-walk-steps")
    box.get_by_label("Go to a part").select_option("Scores")
    box.get_by_role("button", name="Play").click()
    expect(box.locator(".bx-step-where")).to_have_text("4 of 29")
    box.get_by_role("button", name="Pause").click()
    expect(box.get_by_role("button", name="Play")).to_be_visible()
    settled(page)


def test_the_loss_is_walked_piece_by_piece_and_tried_by_hand(open_app):
    page = open_app(
        "?tab=fill-mask&view=pre-training-game&a=The+keys+to+the+cabinet+were+on+the+table.&b=&set.rate=0.3&set.seed=3"
    )
    box = page.locator("#fill-mask-game-curve")
    said = box.locator(".bx-step-said")
    expect(said).to_contain_text("which costs −ln p =")
    first = said.text_content()
    box.get_by_role("button", name="Step forward").click()
    expect(said).not_to_have_text(first)
    box.locator(".bx-stepping").press("End")
    expect(said).to_contain_text("the masked-LM loss")
    box.get_by_role("slider").fill("0.5")
    expect(said).to_contain_text("p = 0.500 would cost −ln p = 0.693")
