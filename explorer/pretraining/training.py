"""The training loop: batch, losses, optimizer step; saving, scoring and logging along the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from tqdm import tqdm

from explorer.core.engine import torch, transformers
from explorer.pretraining.batches import Batch
from explorer.pretraining.host import release_freed_memory
from explorer.pretraining.log import Log
from explorer.pretraining.losses import predict
from explorer.pretraining.reading_ahead import read_ahead
from explorer.pretraining.running_mean import RunningMean
from explorer.pretraining.saving import Progress, checkpoints, load_checkpoint, save_checkpoint
from explorer.pretraining.scoring import Scores
from explorer.pretraining.settings import Settings
from explorer.pretraining.stream import BatchStream
from explorer.pretraining.teacher import Teacher

LOG_EVERY = 50  # steps between two lines of the log
SHORT = 64  # pieces; in longer inputs a masked word often does occur a second time


class Trainer:
    """One run in the folder `out`, with its checkpoints and log.csv; an existing run is resumed.

    `evaluate` scores the model on held-out text every `settings.eval_minutes`. A `teacher`'s distance is a third loss.
    """

    def __init__(
        self,
        model: transformers.BertForPreTraining,
        stream: BatchStream,
        settings: Settings,
        out: Path,
        evaluate: Callable[[transformers.BertForPreTraining], Scores] | None = None,
        teacher: Teacher | None = None,
    ) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self.model, self.stream, self.settings, self.out = model, stream, settings, out
        self.evaluate, self.teacher = evaluate, teacher
        self.content = torch.from_numpy(stream.vocabulary.content).to(model.device)  # [vocabulary]
        self.optimizer = build_optimizer(model, settings)
        self.mean = RunningMean(model, settings.average) if settings.average else None
        saved = checkpoints(out)
        self.progress = load_checkpoint(saved[-1], model, self.optimizer, self.mean) if saved else Progress()
        self.log = Log(out / "log.csv", self.progress.step)
        self.stopping = False

    def stop(self, *_: object) -> None:
        """End this leg after the current step, and save; can be used as a signal handler."""
        self.stopping = True

    def run(self, max_steps: int | None = None) -> None:
        """Train to the end of the run, until `stop()`, or for `max_steps` steps; the state is saved in each case."""
        self.model.train()
        now = self.progress
        last_step = None if max_steps is None else now.step + max_steps
        saved = scored = before = now.seconds
        began = time.monotonic()
        batches = read_ahead(self.stream, self._wanted(now.step), self.settings.workers)
        with tqdm(total=100.0, bar_format="{percentage:.1f}% |{bar}| {elapsed} {postfix}", mininterval=5) as bar:
            while (done := self.settings.progress(now.step, now.seconds)) < 1:
                if self.stopping or now.step == last_step:
                    break
                rate = self.settings.rate(now.step, done)
                batch = next(batches)
                losses = self.step(batch, rate)
                self.log.add(losses)
                if self.mean:
                    self.mean.add(self.model)
                now.step, now.pieces = now.step + 1, now.pieces + batch.pieces
                now.seconds = before + time.monotonic() - began
                scores = None
                if self.evaluate and now.seconds - scored > 60 * self.settings.eval_minutes:
                    scores, scored = self.evaluate(self.model), now.seconds
                if scores or now.step % LOG_EVERY == 0:
                    self.log.write(now, rate, scores)
                    bar.n = 100 * done
                    bar.set_postfix_str(f"step {now.step:,}, masked-LM loss {losses[0].item():.2f}", refresh=False)
                    bar.update(0)
                if now.seconds - saved > 60 * self.settings.save_minutes:
                    saved = now.seconds
                    save_checkpoint(self.out, self.model, self.optimizer, now, self.mean)
                    release_freed_memory()
        save_checkpoint(self.out, self.model, self.optimizer, now, self.mean)

    def _wanted(self, step: int) -> Iterator[tuple[int, float]]:
        """The steps from `step` on, each with the share of pieces to choose at the time its batch is requested."""
        for wanted in count(step):
            yield wanted, self.settings.masking(self.settings.progress(wanted, self.progress.seconds))

    def step(self, batch: Batch, rate: float) -> tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]:
        """One optimizer step at learning rate `rate`.

        Returns the masked-LM loss and the next-sentence loss in nats (no B: None), and the teacher's distance (no
        teacher, or no sentences: None); they stay on the device, so that nothing waits for it.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        with torch.autocast(self.model.device.type, torch.bfloat16, enabled=self.settings.bf16):
            predictions = predict(self.model, batch)
            mlm, following = predictions.losses()
            distance = self.teacher.distance(batch, predictions.hidden_states) if self.teacher else None
            short = self.settings.copy_weight and batch.input_ids.shape[1] <= SHORT
            copying = predictions.copying(self.content) if short else None
        losses = mlm, following, distance
        weights = 1.0, 1.0, self.settings.teacher_weight, self.settings.copy_weight
        parts = zip(weights, (*losses, copying), strict=True)
        sum(weight * loss for weight, loss in parts if loss is not None).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return mlm.detach(), *(None if loss is None else loss.detach() for loss in (following, distance))


def build_optimizer(model: transformers.BertForPreTraining, settings: Settings) -> torch.optim.AdamW:
    """AdamW with weight decay on matrices only: biases and LayerNorm go without, as in BERT."""
    matrices = {"params": [p for p in model.parameters() if p.ndim > 1], "weight_decay": settings.weight_decay}
    vectors = {"params": [p for p in model.parameters() if p.ndim <= 1], "weight_decay": 0.0}
    return torch.optim.AdamW([matrices, vectors], lr=settings.peak_rate, betas=settings.betas, fused=True)
