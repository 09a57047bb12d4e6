"""One question asked of many sentences, with intervals, tests and a held-out half."""
