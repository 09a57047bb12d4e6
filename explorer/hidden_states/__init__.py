"""Hidden states: the vectors after each layer, and how alike they are."""
