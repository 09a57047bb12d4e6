"""What computes: checkpoints, the network of each family, and the Trace of one input."""
