"""A head on vectors that are ready: examples, settings, objectives, probes. Fine-tune and the probes of a corpus use it."""
