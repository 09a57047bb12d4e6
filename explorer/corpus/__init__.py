"""Corpus: words, heads, neurons and layers across many sentences."""
