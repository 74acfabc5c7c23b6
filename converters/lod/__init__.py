"""Sequences packed into one tensor (LoD)."""
