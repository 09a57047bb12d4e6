"""Side by side: two inputs, or two models."""
