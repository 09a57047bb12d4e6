"""Arrays to pictures: Plotly dictionaries, and the values of our own components."""
