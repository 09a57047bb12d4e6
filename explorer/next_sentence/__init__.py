"""Next sentence: whether B follows A."""
