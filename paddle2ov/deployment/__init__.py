"""What the settings beside a model (`inference.yml`) say of shapes and preprocessing; how models are written."""
