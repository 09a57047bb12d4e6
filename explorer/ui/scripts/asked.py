"""The answer that a script is about: a word at a position, perhaps rather than a foil; without a position, that B follows A."""

from explorer.ui.scripts.start import model, tokenizer

position, word, foil = 6, "smiling", "sad"
if position is None:
    answer = 0  # IsNext
elif foil is None:
    answer = tokenizer.convert_tokens_to_ids(word)
else:
    answer, against = tokenizer.convert_tokens_to_ids([word, foil])


def read(hidden):  # the logits of all answers [batch, answers], from last hidden states
    if position is None:
        return model.cls.seq_relationship(model.bert.pooler(hidden))
    else:
        return model.cls.predictions(hidden[:, position])
