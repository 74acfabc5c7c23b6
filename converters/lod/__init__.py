"""Sequences that lie one after the other in one tensor (LoD)."""
