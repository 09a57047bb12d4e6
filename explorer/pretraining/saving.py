"""Checkpoints on disk: safetensors and JSON, never a pickle, and written atomically."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from safetensors import safe_open

from explorer.core.engine import safetensors_torch, torch, transformers
from explorer.core.errors import ModelError
from explorer.pretraining.running_mean import RunningMean

PREFIX = "checkpoint-"


@dataclass
class Progress:
    """The progress of a run: optimizer steps, pieces read (without padding), and seconds of training over all legs."""

    step: int = 0
    pieces: int = 0
    seconds: float = 0.0


def open_tokenizer(folder: str | Path) -> transformers.PreTrainedTokenizerBase:
    """The tokenizer of a folder or hub name; raises ModelError if there is none."""
    try:
        return transformers.AutoTokenizer.from_pretrained(folder)
    except (OSError, ValueError) as error:
        raise ModelError(f"There is no tokenizer to read in {folder}.") from error


def open_model(folder: str | Path, attention: str = "sdpa") -> transformers.BertForPreTraining:
    """The model of a folder or hub name in float32, on the GPU if there is one.

    `attention` is one of transformers' implementations. Raises ModelError if it is not a BERT with both heads.
    """
    try:
        model, report = transformers.BertForPreTraining.from_pretrained(
            folder, dtype=torch.float32, attn_implementation=attention, output_loading_info=True
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelError(f"{folder} cannot be read as a BERT checkpoint.") from error
    if report["missing_keys"]:
        raise ModelError(f"{folder} is not a BERT with both pre-training heads.")
    return model.to("cuda" if torch.cuda.is_available() else "cpu")


def checkpoints(out: Path) -> list[Path]:
    """The finished checkpoints of a run, oldest first."""
    return sorted(p for p in out.glob(PREFIX + "*") if p.is_dir())


def save_checkpoint(
    out: Path,
    model: transformers.BertForPreTraining,
    optimizer: torch.optim.Optimizer,
    progress: Progress,
    mean: RunningMean | None = None,
    keep: int = 2,
) -> Path:
    """Write model, optimizer, progress and the mean of the weights as one folder, and delete all but the last `keep`.

    The folder gets its name only when it is complete, so a run that is killed while saving resumes from the previous one.
    """
    final = out / f"{PREFIX}{progress.step:08d}"
    unfinished = out / f"unfinished-{progress.step:08d}"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    model.save_pretrained(unfinished)
    tensors = {  # the optimizer's state by parameter name: 'exp_avg/bert.embeddings...' and so on
        f"{key}/{name}": value.detach().cpu().contiguous()
        for name, parameter in model.named_parameters()
        for key, value in optimizer.state.get(parameter, {}).items()
    }
    safetensors_torch.save_file(tensors, unfinished / "optimizer.safetensors")
    if mean is not None:
        weights = {name: value.cpu() for name, value in mean.weights.items()}
        safetensors_torch.save_file(weights, unfinished / "mean.safetensors", {"steps": str(mean.steps)})
    (unfinished / "progress.json").write_text(json.dumps(asdict(progress)) + "\n")
    shutil.rmtree(final, ignore_errors=True)
    unfinished.rename(final)
    for old in checkpoints(out)[:-keep]:
        shutil.rmtree(old)
    return final


def load_checkpoint(
    folder: Path, model: transformers.BertForPreTraining, optimizer: torch.optim.Optimizer, mean: RunningMean | None = None
) -> Progress:
    """Load a checkpoint into `model`, `optimizer` and `mean`; returns the progress of the run.

    The mean is restarted if the checkpoint has none. Raises ModelError if the checkpoint is of another model.
    """
    try:
        weights = safetensors_torch.load_file(folder / "model.safetensors")
        missing, unexpected = model.load_state_dict(weights, strict=False)
        if unexpected or set(missing) - set(model.all_tied_weights_keys):
            raise KeyError(*missing, *unexpected)
        parameters = dict(model.named_parameters())
        for entry, value in safetensors_torch.load_file(folder / "optimizer.safetensors").items():
            key, name = entry.split("/", 1)
            # AdamW's step count is a scalar tensor; the fused version needs it on the parameter's device.
            optimizer.state[parameters[name]][key] = value.to(parameters[name].device)
        if mean is not None and (folder / "mean.safetensors").exists():
            with safe_open(folder / "mean.safetensors", "pt") as saved:
                mean.steps = int(saved.metadata()["steps"])
                for name, value in mean.weights.items():
                    value.copy_(saved.get_tensor(name))
        elif mean is not None:
            mean.restart(model)
        return Progress(**json.loads((folder / "progress.json").read_text()))
    except (OSError, KeyError, RuntimeError, TypeError, ValueError) as error:
        raise ModelError(f"The checkpoint {folder.name} cannot be resumed; it belongs to another model.") from error


def export(folder: Path, model: transformers.BertForPreTraining, tokenizer: transformers.PreTrainedTokenizerBase) -> None:
    """Write the model to ship, in half precision and with its tokenizer, so that `from_pretrained` can read it."""
    folder.mkdir(parents=True, exist_ok=True)
    small = transformers.BertForPreTraining(model.config).to(torch.float16)
    small.load_state_dict(model.state_dict())  # rounds to float16
    small.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
