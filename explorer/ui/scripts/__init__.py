"""What several programs begin with: the model, an input, a run without some heads."""
