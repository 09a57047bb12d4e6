"""Programs for people to take along, as `explorer/ui/writing.py` fills them in; each runs as it stands."""
