"""Task head: the answer of a checkpoint that was fine-tuned elsewhere."""
