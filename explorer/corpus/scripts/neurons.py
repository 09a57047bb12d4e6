from explorer.corpus.scripts.texts import texts
from explorer.ui.scripts.start import layers, model, tokenizer

place, neuron, lines, time = 0, 0, 10, 0  # layer and neuron from 0; a layer that places share is run several times
read = []  # what W2 reads: the neurons after the activation function
layer = layers[place]
layer.output.dense.register_forward_pre_hook(lambda module, given: read.append(given[0].flatten(0, -2)))
found = []
for text in texts:
    inputs = tokenizer(text, truncation=True, max_length=512, return_tensors="pt")
    read.clear()
    model(**inputs)
    pieces = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
    active = read[time][:, neuron].tolist()
    found += [(active[token], pieces[token], text) for token in range(1, len(pieces) - 1)]
strongest = sorted(found, key=lambda one: -one[0])[:lines]
activations = [activation for activation, _, _ in strongest]
for activation, piece, text in strongest:
    print(f"{activation:.2f}", piece, "|", text)
