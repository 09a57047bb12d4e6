from explorer.ui.scripts.start import inputs, model, tokens

shares = model(**inputs).logits[0].softmax(-1)  # [tokens, tags]
for token, row in zip(tokens, shares):
    print(token, model.config.id2label[int(row.argmax())], float(row.max()))
