"""A class in a room: people who join by a word, guess before BERT does, and teach it together. All of it in memory."""
