"""Overview: how a sentence becomes an answer, in one picture."""
