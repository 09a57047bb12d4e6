"""What everything may use: errors, caches, limits, the steps of long work, the engine."""
