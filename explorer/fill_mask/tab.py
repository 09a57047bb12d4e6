"""The tab Fill-mask: guesses for a blank, in which layer they arise, and which parts of the model are responsible."""

from explorer.fill_mask.compute import WORDS
from explorer.fill_mask.game import Game
from explorer.fill_mask.guesses import Comparison, FilledTogether, Guesses, WordsToHide
from explorer.fill_mask.lens import FollowedWords, Lens
from explorer.fill_mask.patching import Patching
from explorer.fill_mask.positions import EachWord, EveryPosition, Likelihoods
from explorer.fill_mask.word import WordAttribution, WordHeads, WordWhatIf
from explorer.ui.tabs import Moved, Tab

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
    },
    needs="fill_mask",
    groups={"guess": "Guesses", "look inside": "Lens", "intervene": "Switch heads off", "play": "Pre-training game"},
    above=[WordsToHide, EachWord],
    moved={
        "quiz": Moved(
            "The quiz has gone: lessons and rooms ask before BERT answers. This game hides words of your own text.",
            "fill-mask",
            "pre-training-game",
            {"strategy": WORDS},
        )
    },
)
