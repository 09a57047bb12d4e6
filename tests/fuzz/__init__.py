"""Hostile input of every kind, and what must hold whatever comes: `tests/unit/test_hostile.py` sends it."""
