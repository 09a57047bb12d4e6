"""The tab Fill-mask: guesses for a blank, in which layer they arise, and which parts of the model are responsible."""

from explorer.views.fill_mask.each_word import EachWord
from explorer.views.fill_mask.game import Game
from explorer.views.fill_mask.guesses import Comparison, FilledTogether, Guesses, WordsToHide
from explorer.views.fill_mask.lens import FollowedWords, Lens
from explorer.views.fill_mask.patching import Patching
from explorer.views.fill_mask.positions import EveryPosition, Likelihoods
from explorer.views.fill_mask.quiz import Quiz
from explorer.views.fill_mask.word import WordAttribution, WordHeads, WordWhatIf
from explorer.views.view import Tab

TAB = Tab(
    "fill-mask",
    "Fill-mask",
    "What belongs in the blank?",
    {
        "Guesses": [[Guesses, Comparison], [WordWhatIf], [FilledTogether]],
        "Every position": [[EveryPosition], [Likelihoods]],
        "Lens": [[Lens], [FollowedWords]],
        "Attribution": [[WordAttribution]],
        "Switch heads off": [[WordHeads]],
        "Patching": [[Patching]],
        "Pre-training game": [[Game]],
        "Quiz": [[Quiz]],
    },
    needs="fill_mask",
    groups={"guess": "Guesses", "look inside": "Lens", "intervene": "Switch heads off", "play": "Pre-training game"},
    above=[WordsToHide, EachWord],
)
