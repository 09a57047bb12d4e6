"""A run as one file: what a button of each question offers for download, and `experiments/saved` opens again."""

from typing import Any

from explorer.core import downloads
from explorer.core.errors import InputError
from explorer.experiments.compute.experiment import Experiment
from explorer.experiments.compute.file import written
from explorer.experiments.source import ItemsView
from explorer.ui.subject import Subject
from explorer.ui.view import Change, button, props, show

NOTHING_YET = "There is no run to save yet; ask the question of your items first."
SHOWN, HIDDEN = {"save": props(visible=True)}, {"save": props(visible=False)}


class SavingView(ItemsView):
    """A question whose run can be saved."""

    name, question = "experiments", ""
    save = button("Save this run as a file", visible=False)
    download = button("Download", optional=True, wide=True)

    def on_save(self, subject: Subject, _: None) -> Change:
        """Write the run, and offer it. Raises InputError where there is none."""
        found: Any = self.known(subject)
        if not isinstance(found, Experiment):
            raise InputError(NOTHING_YET)
        text, name = written(found) + "\n", f"{self.asks}-{self.source}.json"
        label = f"Download {name} ({len(text.encode()) / 1e6:.1f} MB)"
        return show(download=props(value=label, link=f"download/{downloads.offer_text(name, text)}", visible=True))
