"""How far the routes can be trusted: a comparison of shares with the effect of masking each word."""

from explorer.analysis.evaluation import spearman
from explorer.overview.compute import Trust as Found
from explorer.overview.compute import run_of, trust
from explorer.overview.run import Followed, opens_on
from explorer.overview.telling import target_of
from explorer.techniques.targets import Target, word_target
from explorer.ui.pictures.bars import SEEN, whole_percent
from explorer.ui.subject import Subject
from explorer.ui.telling import quote, two_places
from explorer.ui.view import Change, Content, View, button, note, sentence, show, takes_long

# The output of `python -m tests.benchmarks routes`; a test compares it with the guide's table.
MEASURED = {"routes": "0.46 (0.42 to 0.50)", "attention": "0.22 (0.18 to 0.26)"}


class Trust(View):
    """A test of the shares on this input, and the results of such tests."""

    name, question = "overview/trust", "How far can the picture be trusted?"
    about = note(
        "**How far can this be trusted?** The lines say what was taken, not what the answer depends on. The test hides each "
        "word in turn and compares what the guess loses with that word's share in the routes. Over 200 sentences with the "
        f"bundled model, the rank correlation (95% interval) is {MEASURED['routes']}. For attention in the last layer it "
        f"is {MEASURED['attention']}."
    )
    test = button("Test it on this sentence")
    found = sentence(keep_height=True)

    def compute(self, subject: Subject) -> Content:
        """Nothing yet: the test takes one pass per word."""
        return {"found": ""}

    @takes_long
    def on_test(self, subject: Subject, index: None) -> Change:
        """Mask each word, and compare. Raises InputError for too short a text, CapabilityError without a head to predict with."""
        run = run_of(subject.trace)
        followed = Followed.of(run, opens_on(subject), subject.model.capabilities.layers)
        target = target_of(subject, run, followed) or word_target(subject.trace, "", followed.position)
        return show(found=_tell(subject, target, trust(subject.trace, target)))


def _tell(subject: Subject, target: Target, found: Found) -> str:
    """The rank correlation, and the word with the largest effect beside its share."""
    tokens, worst = subject.trace.tokens, int(found.losses.argmax())
    rank = 1 + int((found.shares > found.shares[worst]).sum())
    count = len(found.places)
    share, loss = whole_percent(float(found.shares[worst])), f"{100 * found.losses[worst]:.0f}"
    place = f"“{target.token}” at {quote(tokens, target.position)}"
    if found.losses[worst] < SEEN:
        return f"{count} pieces hidden, one at a time: none costs {place} half a point, so the test shows nothing."
    return (
        f"{count} pieces hidden, one at a time: the rank correlation of their shares with what {place} loses is "
        f"{two_places(spearman(found.shares, found.losses))} (−1 to 1). Hiding {quote(tokens, found.places[worst])} costs most, "
        f"{loss} point{'s' * (loss != '1')}; its share is {share}, number {rank} of {count}."
    )
