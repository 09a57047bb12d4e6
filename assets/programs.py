"""Programs for people to take along, with transformers alone: a section each. The first four are beginnings of the others."""

import math
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from transformers import (
    AttentionInterface,
    AttentionMaskInterface,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertForPreTraining,
)
from transformers.masking_utils import eager_mask

# %% shipped: where the app's own files are


def shipped(path):  # in this folder, or where the package is installed
    package = Path(getattr(find_spec("explorer"), "origin", None) or "").parent
    found = [str(place / path) for place in (Path(), package, package.parent) if (place / path).exists()]
    return found[0] if found else sys.exit(f"There is no {path} here; put its full path into this script.")


# %% start: the model with its pre-training heads

MODEL = shipped("assets/models/bert-l6-h384-uncased")  # or another folder, or an id on the Hugging Face hub
tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = BertForPreTraining.from_pretrained(MODEL, dtype="float32", attn_implementation="eager").requires_grad_(False)
longest = model.config.max_position_embeddings  # tokens

# %% inputs: a text, or a pair of texts

text_a = "The man went to the [MASK] because he was happy."
text_b = None
inputs = tokenizer(text_a, text_b, truncation=True, max_length=longest, return_tensors="pt")
tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])

# %% without: runs in which attention weights of some heads are zero

off = []  # heads that are switched off: (layer, head), from 1
cut = []  # weights that are zero: (layer, query, key, head), tokens from 0; head 0 for all heads


def attend(module, query, key, value, mask, scaling, **more):
    scores = query @ key.mT * scaling
    weights = (scores if mask is None else scores + mask).softmax(-1)  # [batch, heads, query, key]
    for layer, head in off:
        if layer == module.layer_idx + 1:
            weights[:, head - 1] = 0
    for layer, query_at, key_at, head in cut:
        if layer == module.layer_idx + 1:
            weights[:, head - 1 if head else slice(None), query_at, key_at] = 0
    return (weights @ value).transpose(1, 2), weights


AttentionInterface.register("without", attend)
AttentionMaskInterface.register("without", eager_mask)
model.set_attn_implementation("without")

# %% embeddings, of the tab Tokens

ids, segments = inputs["input_ids"], inputs["token_type_ids"]
embeddings = model.bert.embeddings
parts = {
    "token": embeddings.word_embeddings(ids),
    "position": embeddings.position_embeddings(torch.arange(ids.shape[1])[None]),
    "segment": embeddings.token_type_embeddings(segments),
}
total = sum(parts.values())  # [1, tokens, hidden]
hidden_state = embeddings.LayerNorm(total)  # hidden state 0
norms = torch.stack([part[0].norm(dim=-1) for part in (*parts.values(), total, hidden_state)], 1)
print("position, token, id, segment, norms of", *parts, "sum", "LayerNorm")
for position, row in enumerate(zip(tokens, ids[0].tolist(), segments[0].tolist(), norms.tolist())):
    print(position, *row)

# %% head, of the tab Attention

layer = 1
head = 1
attentions = model(**inputs, output_attentions=True).attentions  # of each layer [1, heads, query, key]
weights = attentions[layer - 1][0, head - 1]
for token, row in zip(tokens, weights.tolist()):
    print(token, *(f"{weight:.3f}" for weight in row))

# %% metrics, of the tab Attention

attention = torch.cat(model(**inputs, output_attentions=True).attentions)  # [layers, heads, query, key]
n, ids = len(tokens), inputs["input_ids"][0]
places = torch.arange(n)
side = torch.tensor([-1 if one is None else one for one in inputs.sequence_ids(0)])  # -1: added by the tokenizer
words = side >= 0
count = words.sum().clamp_min(1)
same = (ids[:, None] == ids) & words[:, None] & words & ~torch.eye(n, dtype=torch.bool)
metrics = {  # [layers, heads] each, and 0 where an input is too short to have what is averaged
    "entropy": -(attention * attention.clamp_min(1e-38).log()).sum((2, 3)) / (n * math.log(max(n, 2))),
    "distance": (attention * (places[:, None] - places).abs()).sum((2, 3)) / n,
    "confidence": (attention * words).amax(3)[..., words].sum(2) / count,
    "cls": attention[..., :1].sum(3).mean(2) * (side[0] < 0),
    "sep": attention[..., 1:][..., side[1:] < 0].sum(3).mean(2),
    "self": attention.diagonal(0, 2, 3).mean(2),
    "previous": attention.diagonal(-1, 2, 3).sum(2) / max(n - 1, 1),
    "next": attention.diagonal(1, 2, 3).sum(2) / max(n - 1, 1),
    "same_token": (attention * same).sum((2, 3)) / same.any(1).sum().clamp_min(1),
    "ahead": (attention * (words[:, None] & words).triu(1)).sum((2, 3)) / count,
}
for name, values in metrics.items():
    print(name, values)

# %% rollout, of the tab Attention

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

# %% layer, of the tab Inside a head

layer = 1
head = 1
token = 1
block = model.bert.encoder.layer[layer - 1]
hidden = model(**inputs, output_hidden_states=True).hidden_states[layer - 1]  # what the layer reads: [1, tokens, hidden]
own, heads = block.attention.self, model.config.num_attention_heads
query, key, value = (part(hidden).unflatten(-1, (heads, -1)).transpose(1, 2) for part in (own.query, own.key, own.value))
scores = query @ key.mT  # [1, heads, query, key]
scaled = scores / query.shape[-1] ** 0.5
weights = scaled.softmax(-1)
context = weights @ value  # of each head: [1, heads, tokens, size]
mixed = block.attention.output.dense(context.transpose(1, 2).flatten(2))
y = block.attention.output.LayerNorm(mixed + hidden)
inner = block.intermediate.intermediate_act_fn(block.intermediate.dense(y))
following = block.output.LayerNorm(block.output.dense(inner) + y)[0]  # the next hidden state
for name, *row in zip(tokens, *(part[0, head - 1, token].tolist() for part in (scores, scaled, weights))):
    print(name, *(f"{number:.3f}" for number in row))
print(tokens[token], "before", hidden[0, token, :4], "after", following[token, :4])

# %% states, of the tab Hidden states

state = 1  # 0 is the output of the embeddings
hidden_states = torch.cat(model(**inputs, output_hidden_states=True).hidden_states)  # [layers + 1, tokens, hidden]
vectors = hidden_states[state]
unit = vectors / vectors.norm(dim=1, keepdim=True)
similarity = unit @ unit.T  # [tokens, tokens] cosines
norms = hidden_states.norm(dim=-1)  # [layers + 1, tokens]
change = 1 - torch.cosine_similarity(hidden_states[1:], hidden_states[:-1], dim=-1)  # of each layer: [layers, tokens]
away = 1 - torch.cosine_similarity(hidden_states[1:], hidden_states[:1], dim=-1)  # from the embedding: [layers, tokens]
print(similarity)
for token, lengths, changes in zip(tokens, norms.T.tolist(), change.T.tolist()):
    print(token, "norms", *(f"{one:.2f}" for one in lengths), "changes", *(f"{one:.3f}" for one in changes))

# %% word, of the tab Hidden states

word = "bank"
texts = ["He sat on the bank of the river.", "She went to the bank.", "The bank lent money."]
labels = ["river", "money", "money"]  # its senses
vectors, senses = [], []
for text, label in zip(texts, labels):
    inputs = tokenizer(text, return_offsets_mapping=True, truncation=True, max_length=longest, return_tensors="pt")
    offsets = inputs.pop("offset_mapping")[0].tolist()
    states = torch.cat(model(**inputs, output_hidden_states=True).hidden_states)
    for found in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE):
        pieces = [i for i, (start, end) in enumerate(offsets) if start < end and start < found.end() and end > found.start()]
        if pieces:
            vectors.append(states[:, pieces].mean(1))
            senses.append(label)
vectors = torch.stack(vectors, 1)  # [layers + 1, contexts, hidden]
unit = vectors / vectors.norm(dim=-1, keepdim=True)
cosines = unit @ unit.mT  # [layers + 1, contexts, contexts]
same = torch.tensor([[one == other for other in senses] for one in senses])
pairs = same & ~torch.eye(len(senses), dtype=torch.bool)
alike, different = cosines[:, pairs].mean(1), cosines[:, ~same].mean(1)  # [layers + 1]; a static vector would have 1
print("in one sense", alike, "in two", different)

# %% guesses, of the tab Fill-mask

top_k = 5
blanks = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0].tolist()
logits = model(**inputs).prediction_logits[0]  # [tokens, vocabulary]
probabilities, ids = logits[blanks].softmax(-1).topk(top_k)  # [blanks, guesses]
for place, shares, best in zip(blanks, probabilities.tolist(), ids.tolist()):
    for share, token in zip(shares, tokenizer.convert_ids_to_tokens(best)):
        print(f"position {place}: {token} {share:.2%}")

# %% together, of the tab Fill-mask

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

# %% surprisal, of the tab Fill-mask

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

# %% lens, of the tab Fill-mask

hidden_states = torch.cat(model(**inputs, output_hidden_states=True).hidden_states)  # [layers + 1, tokens, hidden]
logits = model.cls.predictions(hidden_states)  # each as if it were the last: nostalgebraist 2020
probabilities, ids = logits.softmax(-1).max(-1)  # [layers + 1, tokens]
final = logits[-1].argmax(-1)  # the model's own guesses
final_ranks = (logits > logits.gather(-1, final[None, :, None].expand(len(logits), -1, 1))).sum(-1) + 1
for layer, best in enumerate(ids.tolist()):
    print(layer, *tokenizer.convert_ids_to_tokens(best))

# %% tuned_lens, of the tab Fill-mask

lens = load_file(shipped("assets/lens/tuned.safetensors"))  # fitted for these weights: Belrose et al. 2023
weight, bias = lens["weight"].float(), lens["bias"].float()  # [layers, hidden, hidden] and [layers, hidden]
states = torch.cat(model(**inputs, output_hidden_states=True).hidden_states)  # [layers + 1, tokens, hidden]
below = states[:-1] + states[:-1] @ weight.mT + bias[:, None]  # h + W h + b; the last state as it is
logits = model.cls.predictions(torch.cat([below, states[-1:]]))  # [layers + 1, tokens, vocabulary]
probabilities, ids = logits.softmax(-1).max(-1)  # [layers + 1, tokens]
for layer, best in enumerate(ids.tolist()):
    print(layer, *tokenizer.convert_ids_to_tokens(best))

# %% heads_off, of the tab Fill-mask

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

# %% what_if, of the tab Fill-mask

position = 6
word = "happy"
answer = tokenizer.convert_tokens_to_ids(word)
after = model(**inputs).prediction_logits[0, position].softmax(-1)
model.set_attn_implementation("eager")  # as it is
before = model(**inputs).prediction_logits[0, position].softmax(-1)
print(word, f"before {before[answer]:.2%}, without the heads {off} and weights {cut} {after[answer]:.2%}")
for share, id in zip(*(part.tolist() for part in after.topk(5))):
    print(tokenizer.convert_ids_to_tokens(id), f"{share:.2%}")

# %% patching, of the tab Fill-mask

# The tokens of the changed run:
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
    hidden[0, token] = clean_states[number][0, token]  # one vector of the original run in the changed one
    for layer in layers[number:]:
        hidden = layer(hidden)
    found[number, token] = measured(hidden)
recovered = (found - bad) / (clean - bad)  # 0 as in the changed run, 1 as in the original
print("original", clean, "changed", bad, "recovered", recovered)

# %% integrated_gradients, of the tab Fill-mask

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

# %% pair, of the tab Next sentence

logits = model(**inputs).seq_relationship_logits[0]  # IsNext, NotNext
probabilities = logits.softmax(-1)
print("IsNext {:.2%}, NotNext {:.2%}".format(*probabilities.tolist()), logits)

# %% pairs, of the tab Next sentence

pairs = [("He opened the door.", "The room was dark."), ("He opened the door.", "Milk is white.")]
logits = []
for a, b in pairs:
    inputs = tokenizer(a, b, truncation=True, max_length=longest, return_tensors="pt")
    logits.append(model(**inputs).seq_relationship_logits[0])
logits = torch.stack(logits)  # [pairs, 2]: IsNext, NotNext
probabilities, differences = logits.softmax(-1)[:, 0], logits[:, 0] - logits[:, 1]
for place in differences.argsort(descending=True).tolist():
    print(f"{probabilities[place]:.2%} {differences[place]:+.2f}", *pairs[place])

# %% labels, of the tab Its own head

MODEL = "textattack/bert-base-uncased-SST-2"  # a folder, or an id on the Hugging Face hub
text_a = "The man was happy."
text_b = None
squash = "softmax"  # or "sigmoid" where labels do not exclude each other, or "none" where the answer is a number
tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForSequenceClassification.from_pretrained(MODEL, dtype="float32")
inputs = tokenizer(text_a, text_b, truncation=True, max_length=512, return_tensors="pt")
with torch.no_grad():
    logits = model(**inputs).logits[0]  # [labels]
shares = {"softmax": logits.softmax(-1), "sigmoid": logits.sigmoid(), "none": logits}[squash]
for place, share in enumerate(shares.tolist()):
    print(model.config.id2label[place], share)

# %% routes, of the tab Overview

position = 1
state = 6  # the position and hidden state whose routes are followed backwards: Ferrando and Voita 2024
outputs = model(**inputs, output_hidden_states=True, output_attentions=True)


def mix(layer, hidden, weights):  # how a layer mixes tokens, [query, key]: Ferrando et al. 2022
    output, heads = layer.attention.output, model.config.num_attention_heads
    value = layer.attention.self.value(hidden[0]).unflatten(-1, (heads, -1))  # [key, heads, size]
    matrix = output.dense.weight.T.unflatten(0, (heads, -1))  # [heads, size, hidden]
    parts = torch.einsum("hqk,khd,hdo->qko", weights[0], value, matrix)  # taken from each token
    parts.diagonal().add_(hidden[0].T)  # and kept of itself
    own, norm = parts.sum(1) + output.dense.bias, output.LayerNorm
    parts = (parts - parts.mean(-1, keepdim=True)) * norm.weight  # the norm but for its deviation
    own = norm(own) * (own.var(-1, correction=0, keepdim=True) + norm.eps).sqrt()
    nearer = (own.abs()[:, None] - (own[:, None] - parts).abs()).sum(-1).clamp(min=0)
    return nearer / nearer.sum(-1, keepdim=True)


mixing = [mix(*one) for one in zip(model.bert.encoder.layer, outputs.hidden_states, outputs.attentions)]
places, found = torch.zeros(state + 1, len(tokens)), []  # [hidden states, tokens]: the share of what ends at the position
places[state, position] = 1
for number in reversed(range(state)):
    taken = places[number + 1, :, None] * mixing[number]
    places[number] = taken.sum(0)
    found += [(float(taken[at]), number + 1, *at) for at in np.ndindex(*taken.shape) if at[0] != at[1]]
for share, number, query, key in sorted(found, reverse=True)[:10]:
    print(f"layer {number}: {tokens[query]} takes from {tokens[key]} ({share:.1%} of the whole)")

# %% map, of the tab Projection

texts = ["The cat sat.", "A cat was sitting.", "The stock fell."]
layer = 6
dimensions = 2
vectors = []
for text in texts:
    inputs = tokenizer(text, truncation=True, max_length=longest, return_tensors="pt")
    vectors.append(model(**inputs, output_hidden_states=True).hidden_states[layer][0].mean(0))  # of all tokens
centred = torch.stack(vectors).double() - torch.stack(vectors).double().mean(0)  # [texts, hidden]
_, _, directions = torch.linalg.svd(centred, full_matrices=False)
points = centred @ directions[:dimensions].T  # principal components: Pearson 1901
points /= (points**2).sum(1).mean().sqrt()  # the page turns its map to that of the layer above; distances are the same
for text, point in zip(texts, points.tolist()):
    print(*(f"{one:+.3f}" for one in point), text)

# %% loop, of the tab Fine-tune

texts = ["A fox slept.", "Our hamster sleeps.", "The bus was late.", "A tram passed.", "Bees hum.", "The taxi waited."]
seconds = None  # the second texts of pairs
labels = ["animal", "animal", "vehicle", "vehicle", "animal", "vehicle"]
classes = ["animal", "vehicle"]
held_out = [4, 5]  # the texts that are not trained on, from 0
cut_at = 64  # tokens of a text
padding = "longest"  # of the batch, or "max_length"
layer = 6  # the head reads hidden state 6
trained = 0  # layers below it that are trained too
pooling = "mean"  # or "cls" or "pooler"
batch = 4
epochs = 10
rate = 0.01  # of the head
layer_rate = 0.0002
seed = 0

encoded = tokenizer(texts, seconds, truncation=True, max_length=cut_at)
targets = torch.tensor([classes.index(label) for label in labels])
train = torch.tensor([row for row in range(len(texts)) if row not in held_out])
model.bert.encoder.layer = model.bert.encoder.layer[:layer]
weights = [*model.bert.encoder.layer[layer - trained :].parameters()]
weights += [*model.bert.pooler.parameters()] if trained and pooling == "pooler" else []
for weight in weights:
    weight.requires_grad_(True)


def read(rows):  # the vectors that the head reads, [texts, hidden]
    batched = {name: [encoded[name][row] for row in rows] for name in encoded}
    padded = tokenizer.pad(batched, padding=padding, max_length=cut_at, return_tensors="pt")
    hidden = model.bert(**padded).last_hidden_state
    if pooling == "mean":
        real = padded["attention_mask"][..., None]
        return (hidden * real).sum(1) / real.sum(1)
    return model.bert.pooler(hidden) if pooling == "pooler" else hidden[:, 0]


with torch.no_grad():
    vectors = read(train)
mean, spread = vectors.mean(0), vectors.std(0, correction=0)  # for a head that learns at one rate from every coordinate
size = spread.clamp_min(0.01 * spread.mean().clamp_min(1e-4)) * len(mean) ** 0.5
classifier = torch.nn.Linear(len(mean), len(classes))
for weight in classifier.parameters():
    torch.nn.init.zeros_(weight)
optimizer = torch.optim.AdamW(
    [
        {"params": [weight for weight in weights if weight.ndim > 1], "lr": layer_rate, "weight_decay": 0.01},
        {"params": [weight for weight in weights if weight.ndim == 1], "lr": layer_rate, "weight_decay": 0.0},
        {"params": list(classifier.parameters()), "lr": rate, "weight_decay": 0.0},
    ]
)
steps = epochs * math.ceil(len(train) / batch)
warm_up = max(1, round(0.1 * steps))
share = [min((step + 1) / warm_up, (steps - step) / max(1, steps - warm_up)) for step in range(steps + 1)]
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, share.__getitem__)
generator = torch.Generator().manual_seed(seed)
losses = []  # of each step
print("epoch, loss, held-out loss, accuracy")
for epoch in range(1, epochs + 1):
    total = 0.0
    for rows in train[torch.randperm(len(train), generator=generator)].split(batch):
        loss = torch.nn.functional.cross_entropy(classifier((read(rows) - mean) / size), targets[rows])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        total += loss.item() * len(rows)
    with torch.no_grad():
        logits = classifier((read(held_out) - mean) / size)
    held_loss = torch.nn.functional.cross_entropy(logits, targets[held_out]).item()
    accuracy = (logits.argmax(-1) == targets[held_out]).float().mean().item()
    print(f"{epoch}, {total / len(train):.4f}, {held_loss:.4f}, {accuracy:.4f}")
