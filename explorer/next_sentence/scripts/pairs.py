from explorer.next_sentence.scripts.ranked import ranked

pairs = [("He opened the door.", "The room was dark."), ("He opened the door.", "Milk is white.")]
probabilities, differences, logits = ranked(pairs)
