from explorer.fill_mask.scripts.hidden import logits_of_hidden, places_of_text
from explorer.ui.scripts.start import tokenizer

sentences = ["The man was happy.", "The man was blue."]
scores, pieces = [], []
for sentence in sentences:
    inputs = tokenizer(sentence, truncation=True, max_length=512, return_tensors="pt")
    places = places_of_text(inputs)
    logs = [logits_of_hidden(inputs, place).log_softmax(-1)[inputs["input_ids"][0, place]] for place in places]
    scores.append(float(sum(logs)))
    pieces.append(len(places))
    print(sentence, f"ln p {scores[-1]:.2f}, a piece {scores[-1] / len(places):.3f}")
