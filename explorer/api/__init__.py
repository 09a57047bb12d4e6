"""What an endpoint needs: its model, its caller, errors as sentences, and the internals of Gradio."""
