"""Model: its configuration, parameters, weights and origin."""
