"""Programs for people to take along, a section each: `explorer/ui/programs.py` completes and fills them in."""

import math

import numpy as np
import torch
from safetensors.torch import load_file

from explorer.ui.scripts import cut, inputs, model, off, shipped, tokenizer, tokens

# %% guesses

top_k = 5
blanks = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0].tolist()
logits = model(**inputs).prediction_logits[0]  # [tokens, vocabulary]
probabilities, ids = logits[blanks].softmax(-1).topk(top_k)  # [blanks, guesses]
for place, shares, best in zip(blanks, probabilities.tolist(), ids.tolist()):
    for share, token in zip(shares, tokenizer.convert_ids_to_tokens(best)):
        print(f"position {place}: {token} {share:.2%}")

# %% together

blanks = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0].tolist()


def fill(surest_first):
    ids, log_probability = inputs["input_ids"].clone(), 0.0
    while left := (ids[0] == tokenizer.mask_token_id).nonzero()[:, 0].tolist():
        logits = model(**{**inputs, "input_ids": ids}).prediction_logits[0]
        probability, best = logits[left].softmax(-1).max(-1)
        place = int(probability.argmax()) if surest_first else 0
        ids[0, left[place]] = best[place]
        log_probability += float(probability[place].log())
    return ids[0, blanks].tolist(), log_probability


left_to_right, surest_first = fill(False), fill(True)
for ids, log_probability in (left_to_right, surest_first):
    print(tokenizer.convert_ids_to_tokens(ids), f"ln p = {log_probability:.2f}")

# %% surprisal

ids = inputs["input_ids"][0]
positions = [
    at for at, side in enumerate(inputs.sequence_ids(0)) if side is not None and ids[at] != tokenizer.mask_token_id
]  # of what was typed
logits = []
for at in positions:  # each is hidden, alone: Salazar et al. 2020
    hidden = inputs["input_ids"].clone()
    hidden[0, at] = tokenizer.mask_token_id
    logits.append(model(**{**inputs, "input_ids": hidden}).prediction_logits[0, at])
log_probabilities = torch.stack(logits).log_softmax(-1)  # [positions, vocabulary]
actual = log_probabilities.gather(1, ids[positions, None])
bits = -actual[:, 0] / math.log(2)
ranks, best = (log_probabilities > actual).sum(1) + 1, log_probabilities.argmax(1)
for at, bit, rank, guess in zip(positions, bits.tolist(), ranks.tolist(), tokenizer.convert_ids_to_tokens(best)):
    print(tokens[at], f"{bit:.2f} bits, rank {rank}, first guess {guess}")

# %% lens

hidden_states = torch.cat(model(**inputs, output_hidden_states=True).hidden_states)  # [layers + 1, tokens, hidden]
logits = model.cls.predictions(hidden_states)  # each as if it were the last: nostalgebraist 2020
probabilities, ids = logits.softmax(-1).max(-1)  # [layers + 1, tokens]
final = logits[-1].argmax(-1)  # the model's own guesses
final_ranks = (logits > logits.gather(-1, final[None, :, None].expand(len(logits), -1, 1))).sum(-1) + 1
for layer, best in enumerate(ids.tolist()):
    print(layer, *tokenizer.convert_ids_to_tokens(best))

# %% tuned_lens

lens = load_file(shipped("assets/lens/tuned.safetensors"))  # fitted for these weights: Belrose et al. 2023
weight, bias = lens["weight"].float(), lens["bias"].float()  # [layers, hidden, hidden] and [layers, hidden]
states = torch.cat(model(**inputs, output_hidden_states=True).hidden_states)  # [layers + 1, tokens, hidden]
below = states[:-1] + states[:-1] @ weight.mT + bias[:, None]  # h + W h + b; the last state as it is
logits = model.cls.predictions(torch.cat([below, states[-1:]]))  # [layers + 1, tokens, vocabulary]
probabilities, ids = logits.softmax(-1).max(-1)  # [layers + 1, tokens]
for layer, best in enumerate(ids.tolist()):
    print(layer, *tokenizer.convert_ids_to_tokens(best))

# %% heads_off

position = 6
word = "happy"
foil = None  # a word to compare it with
layers, heads = model.config.num_hidden_layers, model.config.num_attention_heads
answer, against = (one and tokenizer.convert_tokens_to_ids(one) for one in (word, foil))


def measured(*switched_off):  # the word's probability, or how far its logit is above the foil's
    off[:] = switched_off
    logits = model.cls.predictions(model.bert(**inputs).last_hidden_state[0, position])
    return logits[answer] - logits[against] if foil else logits.softmax(-1)[answer]


alone = [[measured((layer, head)) for head in range(1, heads + 1)] for layer in range(1, layers + 1)]
effects = torch.tensor(alone)  # [layers, heads]: without each head
print("with all heads", measured(), "without each", effects)

# %% what_if

position = 6
word = "happy"
answer = tokenizer.convert_tokens_to_ids(word)
after = model(**inputs).prediction_logits[0, position].softmax(-1)
model.set_attn_implementation("eager")  # as it is
before = model(**inputs).prediction_logits[0, position].softmax(-1)
print(word, f"before {before[answer]:.2%}, without the heads {off} and weights {cut} {after[answer]:.2%}")
for share, id in zip(*(part.tolist() for part in after.topk(5))):
    print(tokenizer.convert_ids_to_tokens(id), f"{share:.2%}")

# %% patching

# The tokens of run B:
corrupted = ["[CLS]", "the", "[MASK]", "went", "to", "the", "[MASK]", "because", "he", "was", "happy", ".", "[SEP]"]
position = 6
word = "happy"
foil = None  # a word to compare it with
answer, against = (one and tokenizer.convert_tokens_to_ids(one) for one in (word, foil))
changed = {**inputs, "input_ids": torch.tensor([tokenizer.convert_tokens_to_ids(corrupted)])}
clean_states, bad_states = (model(**one, output_hidden_states=True).hidden_states for one in (inputs, changed))


def measured(hidden):  # the word's probability, or how far its logit is above the foil's
    logits = model.cls.predictions(hidden[0, position])
    return logits[answer] - logits[against] if foil else logits.softmax(-1)[answer]


layers = model.bert.encoder.layer
clean, bad = measured(clean_states[-1]), measured(bad_states[-1])
found = torch.empty(len(layers) + 1, len(tokens))  # [hidden state, token]
for number, token in np.ndindex(*found.shape):
    hidden = bad_states[number].clone()
    hidden[0, token] = clean_states[number][0, token]  # one vector of run A in run B
    for layer in layers[number:]:
        hidden = layer(hidden)
    found[number, token] = measured(hidden)
recovered = (found - bad) / (clean - bad)  # 0 as in run B, 1 as in run A
print("run A", clean, "run B", bad, "recovered", recovered)

# %% integrated_gradients

position = 6
word = "happy"
foil = None  # a word to compare it with
steps = 50
answer, against = (one and tokenizer.convert_tokens_to_ids(one) for one in (word, foil))
ids, words = inputs.pop("input_ids"), model.get_input_embeddings()
special = torch.isin(ids, torch.tensor(tokenizer.all_special_ids))
embedded, start = words(ids), words(torch.where(special, ids, tokenizer.pad_token_id))  # from [PAD] to the input
nodes, sizes = np.polynomial.legendre.leggauss(steps)
scores = torch.zeros(len(tokens))
for node, size in zip(nodes, sizes):  # Sundararajan et al. 2017
    point = (start + (1 + node) / 2 * (embedded - start)).float().requires_grad_()
    logits = model.cls.predictions(model.bert(inputs_embeds=point, **inputs).last_hidden_state[0, position])
    (logits[answer] - logits[against] if foil else logits[answer]).backward()
    scores += size / 2 * (point.grad * (embedded - start)).sum(-1)[0]
for token, score in zip(tokens, scores.tolist()):
    print(f"{token} {score:+.3f}")
