import torch

from explorer.ui.scripts.start import attention, tokens

token, up_to = 1, 2
flow, flows = torch.eye(len(tokens), dtype=torch.float64), []
for weights in attention.double():  # Abnar & Zuidema 2020: half attention, half the residual connection
    flow = (weights.mean(0) + torch.eye(len(tokens))) / 2 @ flow
    flows.append(flow)
matrix = flows[up_to - 1]  # [query, input token]
sources = torch.stack([flow[token] for flow in flows])  # [layers, input token]
for name, share in zip(tokens, matrix[token].tolist()):
    print(f"{name} {share:.3f}")
