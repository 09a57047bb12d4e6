"""All of the model in one picture, and each part of it one level deeper."""

from explorer.views.overview.routes import PictureWhatIf, Routes
from explorer.views.overview.trust import Trust
from explorer.views.view import Tab

TAB = Tab("overview", "Overview", "How does the sentence become an answer?", {"Routes": [[Routes], [PictureWhatIf], [Trust]]})
