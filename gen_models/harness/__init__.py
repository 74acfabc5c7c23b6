"""What generators are written with, and what runs them: cases, strategies, stores, workers."""
