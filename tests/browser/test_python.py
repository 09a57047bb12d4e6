"""The Python of a view in the dialog of what can be taken away."""

from tests.browser.expecting import expect
from tests.browser.test_everyone import AXE, wrong


def test_the_python_of_a_view_is_read_and_copied(open_app):
    page = open_app(
        "?v=1&tab=attention&a=%22%22%22</code>%3Cimg src%3Dx%3E&layer=2&head=3", viewport={"width": 420, "height": 900}
    )
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#open-bar").click()
    page.locator("#take-away").click()
    page.locator("#take-python summary").click()
    code = page.locator("#take-python code")
    expect(code).to_contain_text("layer = 2")
    expect(code).to_contain_text("</code><img src=x>")
    page.evaluate(AXE)
    assert not wrong(page, "#take")
    page.evaluate("() => document.body.classList.toggle('dark')")
    assert not wrong(page, "#take", ["color-contrast"])
    assert page.evaluate("() => document.querySelector('#take').scrollWidth <= innerWidth")
    page.get_by_role("button", name="Copy the Python").click()
    expect(page.locator("#take-python button")).to_have_text("It is on the clipboard")
    script = page.evaluate("navigator.clipboard.readText()")
    compile(script, "script", "exec")
    assert "attn_implementation" in script


def test_a_view_without_a_program_has_lines_with_the_package_and_a_training_has_none(open_app):
    page = open_app("?v=1&tab=fill-mask&view=pre-training-game")
    page.locator("#take-away").click()
    page.locator("#take-python summary").click()
    expect(page.locator("#take-python code")).to_contain_text("trace.show('fill-mask/game'")
    page.keyboard.press("Escape")
    page.goto(page.url.replace("tab=fill-mask", "tab=fine-tune").replace("view=pre-training-game", ""))
    page.locator("#take-away").click()
    expect(page.locator("#take-files li").first).to_be_visible()
    expect(page.locator("#take-files")).not_to_contain_text(".py")
    expect(page.locator("#take-python")).to_have_count(0)
