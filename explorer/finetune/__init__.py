"""Fine-tune: from examples to a head or model that does a task, and the files in which it is kept."""
