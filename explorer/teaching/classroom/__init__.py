"""Classroom: people join a room by its word, guess before BERT answers, and train a head together. All kept in memory."""
