"""Pre-train a small BERT with both heads, in one command:

    python train.py --text 0.7:FOLDER --text 0.3:FILE --heldout FILE --out RUN --minutes 60

It continues the bundled model, another checkpoint, or random weights. On a GPU the model is compiled and computes in bfloat16.
RUN/model holds the running mean of the weights, in half precision: so far, and at the end.
"""

import argparse
import copy
import json
import time
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path

import numpy as np
import torch
import transformers
from batches import KINDS, NO_LABEL, Batch, Stream, Vocabulary
from pack import load_encoder
from text import HERE, Text, load
from torch.nn.functional import cross_entropy
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

BEGAN = time.monotonic()
ON_GPU = torch.cuda.is_available()
DEVICE = "cuda" if ON_GPU else "cpu"
CONFIG = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536}
AT_ONCE = 4096  # pieces, where nothing is trained
PART = 15 * 2**20  # bytes: some machines send back small files only


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--text", action="append", required=True, metavar="SHARE:PATH", help="a text, and its share of the pieces")
    add("--heldout", type=Path, nargs="+", default=[], help="texts to score on (default: none)")
    add("--init", default=str(HERE.parent), help="checkpoint folder to begin with, or none (default: the bundled model)")
    add("--size", type=json.loads, default=CONFIG, metavar="JSON", help="the configuration of a model with random weights")
    add("--out", type=Path, required=True, help="folder for log, checkpoints and model")
    add("--minutes", type=float, default=60.0, help="from the start of the program to the last step (default 60)")
    add("--steps", type=int, default=10**9, help="end after so many steps, if that is sooner")
    add("--pieces", type=int, help="pieces per batch (default 4,096; on a GPU 65,536)")
    add("--rate", type=float, default=6e-4, help="peak learning rate (default 6e-4; with 1e-3 random weights learned nothing)")
    add("--warm-up", type=int, default=300, help="steps until the peak (default 300)")
    add("--decay", type=float, default=0.3, help="last share of the run, in which the rate falls to 0 (default 0.3)")
    add("--mask", type=float, nargs=2, default=[0.15, 0.3], metavar=("LEAST", "MOST"), help="share of an input to predict")
    add("--dropout", type=float, default=0.0, help="for a text that is read more than four times")
    add("--mean", type=float, default=0.999, help="share of the running mean kept per step (default 0.999)")
    add("--features", type=Path, action="append", default=[], help="folder of an encoder whose similarities are learned, too")
    add("--workers", type=int, default=0, help="processes that make batches; a GPU needs about 14")
    add("--every", type=float, default=2.0, help="minutes between writings; held-out losses come four times as often")
    add("--parts", action="store_true", help="write the weights in files of 15 MiB, which `cat model.safetensors.*` joins")
    add("--seed", type=int, default=1)
    return parser


def read(encoder: transformers.BertModel, ids: torch.Tensor, segments: torch.Tensor, given: Batch) -> torch.Tensor:
    """The last hidden states [rows, pieces, hidden]; every input of a row is read as if it were alone."""
    same_input = given.owners[:, None, :, None] == given.owners[:, None, None, :]
    return encoder(ids, same_input, segments, given.positions).last_hidden_state


def predict(model: transformers.BertForPreTraining, given: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Logits [chosen, vocabulary] at the chosen places only, next-sentence logits [rows, inputs, 2], last states."""
    states = read(model.bert, given.input_ids, given.segments, given)
    first = states.gather(1, given.starts[..., None].expand(-1, -1, states.shape[-1]))  # [rows, inputs, hidden] of [CLS]
    follows = model.cls.seq_relationship(model.bert.pooler(first.flatten(0, 1)[:, None]))
    return model.cls.predictions(states.flatten(0, 1)[given.places]), follows.unflatten(0, first.shape[:2]), states


def similarity_loss(states: torch.Tensor, wanted: torch.Tensor, given: Batch) -> torch.Tensor:
    """1 − linear CKA, 0 to 1, of two models' mean states of the inputs (Kornblith et al. 2019, equation 5)."""
    numbers = torch.arange(1, given.starts.shape[1] + 1, device=states.device)
    own_pieces = (given.owners[:, None] == numbers[:, None]).float()  # [rows, inputs, pieces]
    sizes = own_pieces.sum(-1, keepdim=True)
    there, means = (sizes > 0).flatten(0, 1), own_pieces / sizes.clamp_min(1)
    vectors = [(means @ hidden.float()).flatten(0, 1) for hidden in (states, wanted)]  # [rows · inputs, hidden], 0 if not there
    own, other = ((one - one.sum(0) / there.sum()) * there for one in vectors)
    return 1 - (own.T @ other).square().sum() / ((own.T @ own).norm() * (other.T @ other).norm()).clamp_min(1e-12)


def losses(model, teachers: list, given: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The two losses of BERT in nats, and the sum of the teachers' losses."""
    logits, follows, states = predict(model, given)
    words = cross_entropy(logits.float(), given.targets, ignore_index=NO_LABEL)
    labelled = (given.next_labels != NO_LABEL).sum().clamp_min(1)
    pairs = cross_entropy(follows.mT.float(), given.next_labels, ignore_index=NO_LABEL, reduction="sum") / labelled
    taught = torch.zeros_like(words)
    for encoder in teachers:  # a sentence encoder knows one segment
        with torch.no_grad():
            wanted = read(encoder, given.originals, torch.zeros_like(given.segments), given)
        taught = taught + similarity_loss(states, wanted, given)
    return words, pairs, taught


@torch.inference_mode()
def score(model: transformers.BertForPreTraining, batches: Iterable[Batch]) -> dict[str, float]:
    """The number of inputs and of chosen pieces, the shares of right guesses, the loss in nats, the share of right pairs."""
    ranks, found, right, inputs = [], [], [], 0
    for batch in batches:
        given = batch.to(model.device)
        logits, follows, _ = predict(model, given)
        chosen, labelled = given.targets != NO_LABEL, given.next_labels != NO_LABEL
        logits, targets = logits[chosen].float(), given.targets[chosen]
        ranks.append((logits > logits.gather(1, targets[:, None])).sum(1).cpu())
        found.append(cross_entropy(logits, targets, reduction="none").cpu())
        right.append((follows.argmax(-1) == given.next_labels)[labelled].cpu())
        inputs += int(batch.owners.amax(1).sum())
    rank, loss, hit = (torch.cat(parts).float() for parts in (ranks, found, right))
    top1, top5 = (float((rank < best).float().mean()) for best in (1, 5))
    shares = {"top1": top1, "top5": top5, "loss": float(loss.mean()), "next": float(hit.mean())}
    return {"inputs": inputs, "places": len(rank)} | shares


def held_out_batches(text: Text, vocabulary: Vocabulary, kind: str = "", inputs: int = 1000, seed: int = 1) -> Iterator[Batch]:
    """At least `inputs` inputs of one kind (or of its first one), one per row; the same arguments give the same inputs."""
    stream = Stream([(1.0, text)], vocabulary, AT_ONCE, (0.15, 0.15), seed)
    kind = kind or stream.kinds(0)[0]
    each = AT_ONCE // KINDS[kind][0]
    dice = np.random.default_rng([seed, each])
    for _ in range(-(-inputs // each)):
        yield stream.of_kind(0, kind, dice)


def rate_at(args: argparse.Namespace, step: int, done: float) -> float:
    """Warm-up, stable, decay (Hu et al. 2024, MiniCPM, section 4); `done` is the share of the run, 0 to 1."""
    return args.rate * min(1.0, (step + 1) / args.warm_up) * min(1.0, max(0.0, 1 - done) / args.decay)


def save(folder: Path, model: transformers.BertForPreTraining, tokenizer, parts: bool = False) -> None:
    """Write a model in half precision and its tokenizer; with `parts` no tokenizer, and the weights in files of PART bytes."""
    copy.deepcopy(model).half().save_pretrained(folder)
    if not parts:
        tokenizer.save_pretrained(folder)
        return
    weights = folder / "model.safetensors"
    data = weights.read_bytes()
    weights.unlink()
    for number, start in enumerate(range(0, len(data), PART)):
        weights.with_name(f"{weights.name}.{number:02}").write_bytes(data[start : start + PART])


class Learner:
    """A model, its running mean, its teachers of features and its optimizer."""

    def __init__(self, args: argparse.Namespace, vocabulary: int) -> None:
        settings = {"hidden_dropout_prob": args.dropout, "attention_probs_dropout_prob": args.dropout}
        if args.init == "none":
            model = transformers.BertForPreTraining(transformers.BertConfig(vocab_size=vocabulary, **args.size, **settings))
        else:
            model = transformers.BertForPreTraining.from_pretrained(args.init, dtype=torch.float32, **settings)
        self.model = model.to(DEVICE).train()
        self.teachers = [load_encoder(folder).to(DEVICE) for folder in args.features]
        self.mean = AveragedModel(self.model, multi_avg_fn=get_ema_multi_avg_fn(args.mean)).eval()
        matrices, others = ([one for one in self.model.parameters() if (one.dim() > 1) == many] for many in (True, False))
        groups = [{"params": matrices, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98), fused=True)
        self.losses = torch.compile(losses, dynamic=False) if ON_GPU else losses

    def gradients(self, given: Batch) -> dict[str, torch.Tensor]:
        """The three losses of a batch; their gradients are in the parameters then."""
        with torch.autocast(DEVICE, torch.bfloat16, enabled=ON_GPU):
            words, pairs, taught = self.losses(self.model, self.teachers, given.to(DEVICE))
        (words + pairs + taught).backward()
        return {"words": words, "pairs": pairs, "taught": taught}

    def step(self, given: Batch, rate: float) -> dict[str, torch.Tensor]:
        """Learn from a batch; the three losses before."""
        found = self.gradients(given)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.mean.update_parameters(self.model)
        return found


def train(args: argparse.Namespace) -> None:
    """Read, train, write."""
    torch.manual_seed(args.seed)
    torch.set_float32_matmul_precision("high")
    tokenizer = transformers.AutoTokenizer.from_pretrained(HERE.parent if args.init == "none" else args.init)
    vocabulary = Vocabulary.of(tokenizer)
    texts = [(float(share), load(Path(path), tokenizer)) for share, _, path in (one.partition(":") for one in args.text)]
    held_out = {path.name: load(path, tokenizer) for path in args.heldout}
    stream = Stream(texts, vocabulary, args.pieces or (65_536 if ON_GPU else 4_096), args.mask, args.seed)
    loader = torch.utils.data.DataLoader(stream, None, sampler=count(), num_workers=args.workers, pin_memory=ON_GPU)
    batches = iter(loader)  # starts the workers, while this process has no threads
    learner = Learner(args, len(tokenizer))
    for length in stream.lengths:  # compiles the model for both, before the rates of the run
        learner.gradients(stream.of_length(length, np.random.default_rng(0)))
    learner.optimizer.zero_grad()

    args.out.mkdir(parents=True, exist_ok=True)
    log, began, scored, saved = (args.out / "log.jsonl").open("a"), time.monotonic(), 0.0, 0.0
    seconds_left = args.minutes * 60 - (began - BEGAN)
    for step, given in zip(range(args.steps), batches, strict=False):  # the batches have no end
        seconds = time.monotonic() - began
        done = max(seconds / max(1.0, seconds_left), step / args.steps)
        if done >= 1:
            break
        found = learner.step(given, rate_at(args, step, done))
        if step % 50 == 0:
            line = {"step": step, "minutes": round(seconds / 60, 2)}
            line |= {name: round(loss.item(), 4) for name, loss in found.items()}
            if step == 0 or seconds - scored > args.every * 60 / 4:
                scored = seconds
                for name, text in held_out.items():
                    line[name] = score(learner.mean.module, held_out_batches(text, vocabulary, inputs=256))
            print(json.dumps(line), file=log, flush=True)
            if seconds - saved > args.every * 60:
                saved = seconds
                save(args.out / "model", learner.mean.module, tokenizer, args.parts)
    save(args.out / "model", learner.mean.module, tokenizer, args.parts)


if __name__ == "__main__":
    transformers.utils.logging.set_verbosity_error()
    train(arguments().parse_args())
