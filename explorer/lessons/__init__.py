"""Lessons: texts that drive the page, written in Markdown, with claims about the model that a test can hold them to."""
