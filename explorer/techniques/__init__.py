"""Questions that several capabilities ask of a Trace, in torch."""
