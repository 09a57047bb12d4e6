"""What stands between the network and Gradio: who may ask, what every answer carries, and what operators look at."""
