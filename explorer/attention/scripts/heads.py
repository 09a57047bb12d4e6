from explorer.ui.scripts.start import attention

strongest = attention.amax((2, 3))  # [layers, heads]
for layer, row in enumerate(strongest.tolist(), start=1):
    print("layer", layer, *(f"{weight:.2f}" for weight in row))
