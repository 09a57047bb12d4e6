"""Hidden states: the vectors after each layer, and how similar they are."""
