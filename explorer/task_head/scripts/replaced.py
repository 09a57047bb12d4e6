from explorer.ui.scripts.start import inputs, model, tokens

shares = model(**inputs).logits[0].sigmoid()  # [tokens]
for token, share in zip(tokens, shares.tolist()):
    print(token, share)
