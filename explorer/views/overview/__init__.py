"""The tab Overview: all of the model in one picture, with each part in more detail on a click."""

from explorer.views.overview.routes import PictureWhatIf, Routes
from explorer.views.overview.trust import Trust
from explorer.views.view import Tab

TAB = Tab("overview", "Overview", "How does the sentence become an answer?", {"Routes": [[Routes], [PictureWhatIf], [Trust]]})
