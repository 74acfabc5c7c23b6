"""Damaged files of models: what makes them, what reads them under limits, and what makes them smaller."""
