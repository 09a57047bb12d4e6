"""What is computed for the tab Model."""
