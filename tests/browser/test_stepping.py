"""Pictures in steps: they play where motion is wanted, and are walked by hand everywhere."""

from tests.browser.expecting import expect


def test_a_drawing_is_walked_through_and_its_words_begin_the_way(open_app):
    page = open_app("?tab=model&view=other-architectures&a=The+keys+of+the+man+were+gone.&b=&token=6&set.start=2")
    first, second = page.locator("#model-encoder-decoder-drawing"), page.locator("#model-long-way-drawing")
    first.get_by_label("Go to a part").select_option("Next word")
    expect(first.locator("[data-id=next] text")).to_have_text("Die")
    first.get_by_role("button", name="Step forward").click()
    expect(first.locator("[data-id='written.1'] text")).to_have_text("Die")
    expect(second.locator(".bx-step-where")).to_have_text("1 of 7")
    second.get_by_label("Go to a part").select_option("Attention")
    expect(second.locator(".bx-step-said")).to_contain_text("the query of “were” meets the key of “keys” directly")
    expect(second.locator(".bx-arrow.bx-lit")).to_have_count(1)
    second.locator("[data-id='word.4']").click()
    expect(second.locator(".bx-step-said")).to_contain_text("“were” has to know of “man”, 1 word back")


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
