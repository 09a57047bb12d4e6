"""What people come for is on the first screen, and few clicks away."""

from tests.tasks import HEIGHT, TASKS, WIDTH, do

CLICKS = {  # at most; teaching is tried in test_finetune.py
    "See why BERT guesses tokyo": 0,
    "Find out which word a head needs": 1,
    "Type a sentence and see its surprising word": 0,
    "Compare he and she": 1,
}


def test_what_people_come_for_is_on_the_first_screen_after_few_clicks(new_page, served):
    tried = [task for task in TASKS if task.wish in CLICKS]
    assert len(tried) == len(CLICKS)
    page = new_page(viewport={"width": WIDTH, "height": HEIGHT})
    page.goto(served)
    for task in tried:  # one after the other, each where the one before has led
        clicks, _, _, in_sight = do(page, task)
        assert in_sight, task.wish
        assert clicks <= CLICKS[task.wish], task.wish
