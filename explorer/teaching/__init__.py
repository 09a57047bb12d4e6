"""Lessons with their sheets, and the rooms of a class."""
