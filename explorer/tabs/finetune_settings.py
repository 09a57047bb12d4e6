"""Fine-tune, second part: what is trained, and how."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer.page.wiring import Page, Updates

if TYPE_CHECKING:
    from explorer.model.explorer import Explorer
    from explorer.training.training import TrainingPlan

OWN = "as set below"
PRESETS = {
    "Head only: batch 32, 1e-2, 10 epochs": (10, 0.01, 32),
    "BERT paper: batch 16, 5e-5, 3 epochs": (3, 5e-5, 16),
    "BERT paper: batch 32, 3e-5, 4 epochs": (4, 3e-5, 32),
    "BERT paper: batch 32, 2e-5, 4 epochs": (4, 2e-5, 32),
    "Small model: batch 16, 2e-4, 4 epochs": (4, 2e-4, 16),
}
HEAD_PRESET, _, _, _, SMALL_PRESET = PRESETS
BASE_PRESET = "BERT paper: batch 32, 3e-5, 4 epochs"
WIDE = 512  # hidden numbers from which on a model trains at the paper's rates
RATES = [0.1, 0.03, 0.01, 0.003, 0.001, 2e-4, 1e-4, 5e-5, 3e-5, 2e-5]
SHARES = [("a fiftieth", 0.02), ("a tenth", 0.1), ("a fifth", 0.2), ("a third", 1 / 3), ("half", 0.5)]
UNITS = 64
PATIENCE = 3
LINEAR, HIDDEN = "linear", f"one hidden layer ({UNITS} units)"
ADAM, LBFGS = "Adam, step by step", "L-BFGS, solved at once"


@dataclass(eq=False)
class Settings:
    """The components that say how to train, in the order of `values`."""

    layers: gr.Slider
    preset: gr.Dropdown
    epochs: gr.Slider
    rate: gr.Dropdown
    batch: gr.Dropdown
    layer: gr.Slider
    pooling: gr.Dropdown
    head: gr.Radio
    solver: gr.Radio
    regularization: gr.Dropdown
    balanced: gr.Checkbox
    early: gr.Checkbox
    last: gr.Checkbox
    held_out: gr.Dropdown
    seed: gr.Number

    @property
    def inputs(self) -> list[gr.components.Component]:
        """What `plan` takes after the model."""
        return list(vars(self).values())

    def fit(self, model: "Explorer", layers: float, layer: float) -> Updates:
        """The sliders, as far as this model goes."""
        most = model.capabilities.layers
        at = most if layer > most or layer <= 0 else int(layer)
        return {
            self.layers: gr.Slider(maximum=most, value=min(int(layers), most)),
            self.layer: gr.Slider(maximum=most, value=at),
        }


def preset_for(hidden_size: int, layers: int) -> str:
    """The name of the preset that suits so many layers trained of a model of this width."""
    if not layers:
        return HEAD_PRESET
    return BASE_PRESET if hidden_size >= WIDE else SMALL_PRESET


def plan(model: "Explorer", *values: Any) -> "TrainingPlan":
    """What to train, checked. Raises InputError."""
    from explorer.training.training import make_plan

    layers, _, epochs, rate, batch, layer, pooling, head, solver, *others = values
    regularization, balanced, early, last, held_out, seed = others
    frozen = not layers
    return make_plan(
        model,
        layer,
        pooling,
        layers,
        keep_best=not last,
        epochs=epochs,
        learning_rate=rate,
        batch_size=batch,
        seed=seed,
        units=UNITS if head == HIDDEN else 0,
        optimizer="lbfgs" if frozen and solver == LBFGS and head != HIDDEN else "adam",
        regularization=regularization,
        balanced=balanced,
        held_out=held_out,
        patience=PATIENCE if early else 0,
    )


def build_settings(page: Page) -> Settings:
    """Make and wire the components."""
    layers = gr.Slider(
        0,
        6,
        value=0,
        step=1,
        label="Layers trained with the head, from the top (0: BERT stays as it is)",
        elem_id="layers-trained",
    )
    with gr.Accordion("More", open=False, elem_id="training-more"):
        preset = gr.Dropdown([*PRESETS, OWN], value=HEAD_PRESET, label="Settings", elem_id="preset")
        with gr.Row():
            epochs = gr.Slider(1, 50, value=10, step=1, label="Epochs", elem_id="epochs", min_width=140)
            rate = gr.Dropdown(
                [(f"{rate:g}", rate) for rate in RATES], value=0.01, label="Learning rate", min_width=100
            )
            batch = gr.Dropdown([8, 16, 32, 64, 128], value=32, label="Batch", min_width=70)
        with gr.Row():
            layer = gr.Slider(0, 6, value=6, step=1, label="The head reads hidden state (0: embeddings)", min_width=140)
            poolings = [("mean of all tokens", "mean"), ("[CLS]", "cls"), ("pooler (last layer)", "pooler")]
            pooling = gr.Dropdown(
                poolings, value="mean", label="One vector for a sentence", min_width=140, elem_id="pooling"
            )
        head = gr.Radio([LINEAR, HIDDEN], value=LINEAR, label="Head", elem_id="head-kind")
        solver = gr.Radio(
            [ADAM, LBFGS], value=ADAM, label="A linear head without layers is trained with", elem_id="solver"
        )
        with gr.Row():
            regularization = gr.Dropdown([10, 1, 0.1, 0.01], value=1, label="Regularisation (L-BFGS)", min_width=100)
            held_out = gr.Dropdown(SHARES, value=0.2, label="Held out", min_width=80, elem_id="held-out")
            seed = gr.Number(0, precision=0, label="Seed", min_width=70, elem_id="training-seed")
        balanced = gr.Checkbox(False, label="Rare classes weigh more", elem_id="class-weights")
        early = gr.Checkbox(
            False, label=f"Stop when the held-out loss has not fallen for {PATIENCE} epochs", elem_id="early"
        )
        last = gr.Checkbox(
            False, label="Keep the last epoch, not the one that is best on the held-out examples", elem_id="last-epoch"
        )
    made = Settings(
        layers,
        preset,
        epochs,
        rate,
        batch,
        layer,
        pooling,
        head,
        solver,
        regularization,
        balanced,
        early,
        last,
        held_out,
        seed,
    )
    _wire(page, made)
    return made


def _wire(page: Page, made: Settings) -> None:
    def use(name: str) -> Updates:
        if name not in PRESETS:
            return {made.preset: OWN}
        epochs, rate, batch = PRESETS[name]
        return {made.preset: name, made.epochs: epochs, made.rate: rate, made.batch: batch}

    def for_layers(model_name: str, layers: float, current: str) -> Updates:
        if bool(layers) == (current != HEAD_PRESET) or current == OWN:
            return use(current)
        from explorer.model.explorer import load

        preset = preset_for(load(model_name).capabilities.hidden_size, int(layers))
        return {**use(preset), made.pooling: "cls" if layers else "mean"}

    outputs = [made.preset, made.epochs, made.rate, made.batch]
    page.run([made.preset.input], use, outputs, [made.preset], queue=False)
    layers = [made.layers.release, made.layers.input]
    # Past the queue, for a late answer would undo the epochs typed meanwhile.
    page.run(layers, for_layers, [*outputs, made.pooling], [page.model_name, made.layers, made.preset], queue=False)
    page.run(
        [made.epochs.input, made.rate.input, made.batch.input], lambda: {made.preset: OWN}, [made.preset], queue=False
    )
