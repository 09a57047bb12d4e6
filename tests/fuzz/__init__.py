"""Hostile input of every kind, and what must hold whatever comes: `python -m tests.fuzz --calls 10000`."""
