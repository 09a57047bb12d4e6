"""Programs: the weights of a head, numbers of all heads, rollout."""

from explorer.ui.programs import programs

program = programs(__file__)
PROGRAMS = {
    "attention/head": program("head", "look", "square_root"),
    "attention/metric": program("metrics", "metric"),
    "attention/metrics": program("metrics"),
    "attention/rollout": program("rollout", "up_to"),
}
