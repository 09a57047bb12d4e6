from explorer.ui.scripts.inputs import inputs
from explorer.ui.scripts.start import model, tokenizer
from explorer.ui.scripts.without import cut, off  # noqa: F401 - what is changed

position = 6
word = "happy"
answer = tokenizer.convert_tokens_to_ids(word)
after = model(**inputs).prediction_logits[0, position].softmax(-1)
model.set_attn_implementation("eager")  # as it is
before = model(**inputs).prediction_logits[0, position].softmax(-1)
print(word, f"before {before[answer]:.2%}, after {after[answer]:.2%}")
for share, id in zip(*(part.tolist() for part in after.topk(5))):
    print(tokenizer.convert_ids_to_tokens(id), f"{share:.2%}")
