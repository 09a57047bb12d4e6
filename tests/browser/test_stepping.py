"""Pictures in steps: they play where motion is wanted, and are walked by hand everywhere."""

from tests.browser.expecting import expect


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
