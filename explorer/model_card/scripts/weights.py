import numpy as np

from explorer.ui.scripts.start import layers

are_shared, place, matrix = False, 0, "attention.self.query.weight"
if are_shared:
    layers = layers[:1]
weights = [dict(layer.named_parameters()) for layer in layers]
sizes = {name: [float(one[name].square().mean().sqrt()) for one in weights if name in one] for name in weights[-1]}
for name, row in sizes.items():  # root mean square, a number a layer
    print(name, row)
weight = weights[place][matrix].numpy()
mean, deviation = weight.mean(), weight.std()
counts, edges = np.histogram(weight, 61, (mean - 5 * deviation, mean + 5 * deviation))
print(mean, deviation, counts)
