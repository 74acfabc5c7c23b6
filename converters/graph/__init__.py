"""What converters are written with; no operator of its own."""
