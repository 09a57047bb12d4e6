"""Projection: words and sentences as points on a map."""
