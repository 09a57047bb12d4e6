"""What the Python of several views has in common."""
