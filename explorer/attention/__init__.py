"""Attention: which token takes from which, of one head, of all, and through the layers."""
