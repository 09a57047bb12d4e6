import torch

from explorer.corpus.scripts.texts import texts
from explorer.ui.scripts.start import heads_of, layers, model, text_a, text_b, tokenizer

by_state, state, head, token, limit = True, 6, 0, 1, 50  # layer and head from 0
with_added = False  # also tokens that the tokenizer adds


def vectors_of(*texts):  # [tokens, size]: a hidden state, or the output of a head
    inputs = tokenizer(*texts, truncation=True, max_length=512, return_tensors="pt")
    if by_state:
        return model(**inputs, output_hidden_states=True).hidden_states[state][0], inputs
    else:
        outputs = model(**inputs, output_hidden_states=True, output_attentions=True)
        _, _, value = heads_of(layers[state], outputs.hidden_states[state])
        return outputs.attentions[state][0, head] @ value[0, head], inputs


if not by_state:
    model.set_attn_implementation("eager")  # it returns its weights, which faster ones do not
vector = vectors_of(text_a, text_b)[0][token]
found = []
for text in texts:
    vectors, inputs = vectors_of(text)
    pieces = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
    alike = torch.cosine_similarity(vectors, vector[None]).tolist()
    places = range(len(pieces)) if with_added else range(1, len(pieces) - 1)
    found += [(alike[place], pieces[place], text) for place in places]
nearest = sorted(found, key=lambda one: -one[0])[:limit]
cosines = [cosine for cosine, _, _ in nearest]
for cosine, piece, text in nearest:
    print(f"{cosine:.3f}", piece, "|", text)
