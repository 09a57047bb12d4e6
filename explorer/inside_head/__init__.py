"""Inside a head: one token followed through a layer, step by step."""
