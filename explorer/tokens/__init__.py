"""Tokens: the input as BERT reads it."""
