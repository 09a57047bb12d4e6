"""What a view is, and the pictures, scripts and parts of views that several capabilities share. No Gradio."""
