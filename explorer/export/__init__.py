"""The ways a view leaves: links, files, notebooks, and the Python that makes it."""
