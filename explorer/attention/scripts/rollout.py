import torch

from explorer.ui.scripts.inputs import inputs, tokens
from explorer.ui.scripts.start import model

token = 1
up_to = 2  # the last layer
attention = torch.cat(model(**inputs, output_attentions=True).attentions).double()  # [layers, heads, query, key]
flow, flows = torch.eye(len(tokens), dtype=torch.float64), []
for weights in attention:  # Abnar & Zuidema 2020: half attention, half the residual connection
    flow = (weights.mean(0) + torch.eye(len(tokens))) / 2 @ flow
    flows.append(flow)
matrix = flows[up_to - 1]  # [query, input token]
sources = torch.stack([flow[token] for flow in flows])  # [layers, input token]
for name, share in zip(tokens, matrix[token].tolist()):
    print(f"{name} {share:.3f}")
