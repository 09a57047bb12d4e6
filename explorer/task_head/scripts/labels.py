from explorer.ui.scripts.start import inputs, model

squash = "none"
logits = model(**inputs).logits[0]  # [labels]
if squash == "softmax":
    shares = logits.softmax(-1)
elif squash == "sigmoid":
    shares = logits.sigmoid()
else:
    shares = logits
for place, share in enumerate(shares.tolist()):
    print(model.config.id2label[place], share)
