"""Arithmetic on arrays that several capabilities use."""
