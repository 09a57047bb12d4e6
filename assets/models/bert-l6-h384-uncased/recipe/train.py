"""Pre-train a small BERT with both heads, in one command:

    python train.py --text 0.7:FOLDER --text 0.3:FILE --heldout FILE --out RUN --minutes 60

It continues the bundled model, another checkpoint, or random weights. On a GPU the model is compiled and computes in bfloat16.
RUN/model holds the running mean of the weights, in half precision: so far, and at the end.
"""

import argparse
import json
import time
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path

import numpy as np
import torch
import transformers
from batches import KINDS, NO_LABEL, Batch, Stream, Vocabulary
from text import HERE, Text, load
from torch.nn.functional import cross_entropy, kl_div
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

CONFIG = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536}
AT_ONCE = 4096  # pieces, where nothing is trained
PART = 15 * 2**20  # bytes: some machines send back small files only
TEMPERATURE = 2.0  # of the teacher's and the student's guesses (Hinton et al. 2015, section 2)


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--text", action="append", required=True, metavar="SHARE:PATH", help="a text, and its share of the batches")
    add("--heldout", type=Path, help="a text to score on (default: none)")
    add("--init", default=str(HERE.parent), help="checkpoint folder to begin with, or none (default: the bundled model)")
    add("--size", type=json.loads, default=CONFIG, metavar="JSON", help="the configuration of a model with random weights")
    add("--out", type=Path, required=True, help="folder for log, checkpoints and model")
    add("--minutes", type=float, default=60.0, help="length of the run (default 60)")
    add("--steps", type=int, default=10**9, help="end after so many steps, if that is sooner")
    add("--pieces", type=int, help="pieces per batch (default 4,096; on a GPU 131,072)")
    add("--rate", type=float, default=5e-4, help="peak learning rate (default 5e-4)")
    add("--warm-up", type=int, default=300, help="steps until the peak (default 300)")
    add("--decay", type=float, default=0.3, help="last share of the run, in which the rate falls to 0 (default 0.3)")
    add("--mask", type=float, default=0.2, help="share of the pieces to predict (default 0.2)")
    add("--dropout", type=float, default=0.0, help="for a text that is read more than four times")
    add("--mean", type=float, default=0.999, help="share of the running mean kept per step (default 0.999)")
    add("--features", help="folder of an encoder whose similarities of sentences are learned, too")
    add("--teacher", help="folder of a BERT whose guesses are learned, too")
    add("--teacher-weight", type=float, default=1.0, help="weight of each teacher beside the two losses (default 1)")
    add("--workers", type=int, default=0, help="processes that make batches; a GPU needs about 8")
    add("--every", type=float, default=2.0, help="minutes between writings; held-out losses come four times as often")
    add("--parts", action="store_true", help="write the weights in files of 15 MiB, which `cat model.safetensors.*` joins")
    add("--cache", type=Path, help="folder for the tokenized texts (default: RUN/tokens)")
    add("--seed", type=int, default=1)
    return parser


def new_model(args: argparse.Namespace, vocabulary: int) -> transformers.BertForPreTraining:
    """The model in float32, with random weights or those of a checkpoint."""
    dropout = {"hidden_dropout_prob": args.dropout, "attention_probs_dropout_prob": args.dropout}
    if args.init == "none":
        return transformers.BertForPreTraining(transformers.BertConfig(vocab_size=vocabulary, **args.size, **dropout))
    return transformers.BertForPreTraining.from_pretrained(args.init, dtype=torch.float32, **dropout)


def frozen(kind: type, folder: str) -> torch.nn.Module:
    """A model to learn from."""
    return kind.from_pretrained(folder, dtype=torch.float32).eval().requires_grad_(False)


def to_device(batch: Batch, device: str) -> dict[str, torch.Tensor]:
    """The arrays of a batch as tensors, by name."""
    return {name: torch.from_numpy(value).to(device, non_blocking=True) for name, value in vars(batch).items()}


def predict(model, given: dict[str, torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Logits [batch, chosen, vocabulary] at the chosen places only, next-sentence logits [batch, 2], last states."""
    output = model.bert(given["input_ids"], token_type_ids=given["segments"], attention_mask=given["real"])
    states = output.last_hidden_state  # [batch, tokens, hidden]
    places = given["places"][..., None].expand(-1, -1, states.shape[-1])
    return model.cls.predictions(states.gather(1, places)), model.cls.seq_relationship(output.pooler_output), states


def losses(model, given: dict[str, torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """The two losses of BERT in nats, then the masked-LM logits and the states for the teachers."""
    logits, follows, states = predict(model, given)
    words = cross_entropy(logits.flatten(0, 1).float(), given["targets"].flatten(), ignore_index=NO_LABEL)
    labelled = (given["next_labels"] != NO_LABEL).sum().clamp_min(1)
    pairs = cross_entropy(follows.float(), given["next_labels"], ignore_index=NO_LABEL, reduction="sum") / labelled
    return words, pairs, logits, states


def unmasked(given: dict[str, torch.Tensor]) -> torch.Tensor:
    """[batch, tokens] the ids before masking."""
    ids, places, targets = (given[name] for name in ("input_ids", "places", "targets"))
    return ids.scatter(1, places, torch.where(targets == NO_LABEL, ids.gather(1, places), targets))


def similarity_loss(states: torch.Tensor, wanted: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """1 − linear CKA, 0 to 1, of the mean vectors of two models' states [batch, tokens, hidden] (Kornblith et al. 2019)."""
    grams = []
    for hidden in (states.float(), wanted.float()):
        vectors = (hidden * real[..., None]).sum(1) / real.sum(1, keepdim=True)
        vectors = vectors - vectors.mean(0)
        grams.append(vectors @ vectors.T)
    return 1 - (grams[0] * grams[1]).sum() / (grams[0].norm() * grams[1].norm()).clamp_min(1e-12)


def guess_loss(logits: torch.Tensor, wanted: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """KL(teacher ‖ student) at the chosen places, softened by TEMPERATURE and scaled by its square."""
    chosen = targets != NO_LABEL
    own, other = ((one[chosen].float() / TEMPERATURE).log_softmax(-1) for one in (logits, wanted))
    return kl_div(own, other, log_target=True, reduction="batchmean") * TEMPERATURE**2


@torch.inference_mode()
def score(model: transformers.BertForPreTraining, batches: Iterable[Batch]) -> dict[str, float]:
    """The number of inputs and of chosen pieces, the shares of right guesses, the loss in nats, the share of right pairs."""
    was_training, ranks, found, right, inputs = model.training, [], [], [], 0
    model.eval()
    for batch in batches:
        given = to_device(batch, str(model.device))
        logits, follows, _ = predict(model, given)
        chosen, labelled = given["targets"] != NO_LABEL, given["next_labels"] != NO_LABEL
        logits, targets = logits[chosen].float(), given["targets"][chosen]
        ranks.append((logits > logits.gather(1, targets[:, None])).sum(1).cpu())
        found.append(torch.nn.functional.cross_entropy(logits, targets, reduction="none").cpu())
        right.append((follows.argmax(1) == given["next_labels"])[labelled].cpu())
        inputs += len(batch.input_ids)
    model.train(was_training)
    rank, loss, hit = (torch.cat(parts).float() for parts in (ranks, found, right))
    top1, top5 = (float((rank < best).float().mean()) for best in (1, 5))
    shares = {"top1": top1, "top5": top5, "loss": float(loss.mean()), "next": float(hit.mean())}  # "next" is nan without pairs
    return {"inputs": inputs, "places": len(rank)} | shares


def held_out_batches(text: Text, vocabulary: Vocabulary, kind: str, inputs: int, seed: int = 1) -> Iterator[Batch]:
    """`inputs` inputs of one kind; the same arguments give the same inputs."""
    stream = Stream([(1.0, text)], vocabulary, AT_ONCE, 0.15, seed)
    each = max(1, AT_ONCE // KINDS[kind][0])
    dice = np.random.default_rng([seed, each])
    for _ in range(-(-inputs // each)):
        yield stream.of_kind(0, kind, dice)


def rate_at(args: argparse.Namespace, step: int, done: float) -> float:
    """Warm-up, stable, decay (Hu et al. 2024, MiniCPM, section 4); `done` is the share of the run, 0 to 1."""
    return args.rate * min(1.0, (step + 1) / args.warm_up) * min(1.0, max(0.0, 1 - done) / args.decay)


def save(folder: Path, model: transformers.BertForPreTraining, tokenizer, parts: bool = False) -> None:
    """Write a model in half precision, with its tokenizer; with `parts` the weights are in files of at most PART bytes."""
    half = transformers.BertForPreTraining(model.config).to(torch.float16)
    half.load_state_dict(model.state_dict())
    half.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    if parts:
        weights = folder / "model.safetensors"
        data = weights.read_bytes()
        for number, start in enumerate(range(0, len(data), PART)):
            weights.with_name(f"{weights.name}.{number:02}").write_bytes(data[start : start + PART])
        weights.unlink()


def train(args: argparse.Namespace) -> None:
    """Read, train, write."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(args.seed)
    torch.set_float32_matmul_precision("high")
    tokenizer = transformers.AutoTokenizer.from_pretrained(HERE.parent if args.init == "none" else args.init)
    vocabulary, cache = Vocabulary.of(tokenizer), args.cache or args.out / "tokens"
    texts = [(float(share), load(Path(path), tokenizer, cache)) for share, _, path in (one.partition(":") for one in args.text)]
    pieces = args.pieces or (131_072 if device == "cuda" else 4_096)
    stream = Stream(texts, vocabulary, pieces, args.mask, args.seed)
    batches = torch.utils.data.DataLoader(stream, None, sampler=count(), num_workers=args.workers)
    held_out = load(args.heldout, tokenizer, cache, clean=False) if args.heldout else None

    model = new_model(args, len(tokenizer)).to(device).train()
    features = args.features and frozen(transformers.BertModel, args.features).to(device)
    teacher = args.teacher and frozen(transformers.BertForPreTraining, args.teacher).to(device)
    mean = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(args.mean))
    matrices, others = ([one for one in model.parameters() if (one.dim() > 1) == many] for many in (True, False))
    groups = [{"params": matrices, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98), fused=True)
    compute = torch.compile(losses, dynamic=False) if device == "cuda" else losses

    args.out.mkdir(parents=True, exist_ok=True)
    log, began, scored, saved = (args.out / "log.jsonl").open("a"), time.monotonic(), 0.0, 0.0
    for step, batch in zip(range(args.steps), batches, strict=False):  # the batches have no end
        minutes = (time.monotonic() - began) / 60
        done = max(minutes / args.minutes, step / args.steps)
        if done >= 1:
            break
        given = to_device(batch, device)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            words, pairs, logits, states = compute(model, given)
            loss = words + pairs
            if features:
                wanted = features(unmasked(given), attention_mask=given["real"]).last_hidden_state
                loss = loss + args.teacher_weight * similarity_loss(states, wanted, given["real"])
            if teacher:
                loss = loss + args.teacher_weight * guess_loss(logits, predict(teacher, given)[0], given["targets"])
        for group in optimizer.param_groups:
            group["lr"] = rate_at(args, step, done)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        mean.update_parameters(model)
        if step % 50 == 0:
            line = {"step": step, "minutes": round(minutes, 2), "words": round(words.item(), 4), "pairs": round(pairs.item(), 4)}
            if held_out and (step == 0 or minutes - scored > args.every / 4):
                scored = minutes
                line |= score(mean.module, held_out_batches(held_out, vocabulary, "pairs", 256))
            print(json.dumps(line), file=log, flush=True)
            if minutes - saved > args.every:
                saved = minutes
                save(args.out / "model", mean.module, tokenizer, args.parts)
    save(args.out / "model", mean.module, tokenizer, args.parts)


if __name__ == "__main__":
    transformers.utils.logging.set_verbosity_error()
    train(arguments().parse_args())
