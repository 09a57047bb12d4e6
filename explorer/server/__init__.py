"""Middleware and routes around Gradio: access control, headers of every answer, and addresses for operators."""
