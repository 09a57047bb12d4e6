"""The settings of a pre-training run, and its learning rate schedule."""

from dataclasses import dataclass

from explorer.core.errors import InputError


@dataclass(frozen=True)
class Settings:
    """The settings of one run; it ends after `steps` or `minutes`, whichever comes first, with a learning rate of zero.

    With a `decay` below 1 the rate stays at its peak after the warm-up and falls in the last part only: warm-up, stable, decay
    (Hu et al. 2024, 'MiniCPM', section 4), so that a run can be continued from before its decay. The share of chosen pieces falls
    linearly from first_mask_rate to mask_rate (Ankner et al. 2024, 'Dynamic masking rate schedules'): many predictions a step
    early, and at the end the task as it will be measured.
    """

    steps: int | None = None
    minutes: float | None = None  # over all legs, without the time between them
    peak_rate: float = 5e-4  # the learning rate after `warmup` steps
    warmup: int = 300
    decay: float = 1.0  # the last share of the run, in which the rate falls linearly to zero
    average: float = 0.0  # the share of the running mean of the weights kept at each step; 0: no mean
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.98)
    clip: float = 1.0  # largest gradient norm
    teacher_weight: float = 4.0  # of the teacher's distance, relative to the other losses
    copy_weight: float = 0.0  # of copying in short inputs, relative to the other losses
    first_mask_rate: float = 0.15
    mask_rate: float = 0.15
    seed: int = 1
    bf16: bool = True
    workers: int = 0  # processes that prepare batches; 0: each batch is made when it is needed
    save_minutes: float = 5.0  # between checkpoints
    eval_minutes: float = 10.0  # between held-out scores

    def __post_init__(self) -> None:
        if self.steps is None and self.minutes is None:
            raise InputError("Say how long to train: a number of steps, or of minutes.")
        if (self.steps or 1) <= 0 or (self.minutes or 1) <= 0:
            raise InputError("The number of steps or minutes must be above 0.")
        if not (0 < self.decay <= 1 and 0 <= self.average < 1):
            raise InputError("The decay must be above 0 and at most 1, and the average from 0 to below 1.")

    def progress(self, step: int, seconds: float) -> float:
        """The share of the run that is done, 0..1: by steps or by time, whichever is further."""
        return min(1.0, max(step / (self.steps or float("inf")), seconds / (60 * (self.minutes or float("inf")))))

    def rate(self, step: int, progress: float) -> float:
        """The learning rate: linear warm-up over `warmup` steps, then linear decay to zero over the last `decay` of the run."""
        return self.peak_rate * min(1.0, (step + 1) / max(1, self.warmup)) * min(1.0, (1.0 - progress) / self.decay)

    def masking(self, progress: float) -> float:
        """The share of pieces chosen at this point of the run."""
        return self.first_mask_rate + (self.mask_rate - self.first_mask_rate) * progress
