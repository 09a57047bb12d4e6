"""The tab Overview: all of the model in one picture, with each part in more detail on a click."""

from explorer.overview.routes import PictureWhatIf, Routes
from explorer.overview.trust import Trust
from explorer.ui.tabs import Tab

TAB = Tab("overview", "Overview", "How does the sentence become an answer?", {"Routes": [[Routes], [PictureWhatIf], [Trust]]})
