"""Lessons: Markdown files that drive the page, with claims about the model that are tested."""
