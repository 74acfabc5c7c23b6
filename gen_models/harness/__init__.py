"""What generators are written with, and what runs them: cases, variations of them, stores, workers."""
