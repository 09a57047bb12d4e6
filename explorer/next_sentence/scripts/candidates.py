from explorer.next_sentence.scripts.ranked import ranked
from explorer.ui.scripts.start import text_a

candidates = ["The room was dark.", "Milk is white."]
probabilities, differences, logits = ranked([(text_a, candidate) for candidate in candidates])
