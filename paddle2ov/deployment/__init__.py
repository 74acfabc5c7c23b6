"""What the settings beside a model (`inference.yml`) say of shapes and preprocessing; how models are written.

- `beside.py`: the settings beside a model;
- `bounds.py`: bounds of dynamic inputs;
- `planning.py`, `transform_options.py`: which transforms can be built in, and their options;
- `preprocessing.py`, `*steps.py`, `sizes.py`: builds them in;
- `saving.py`, `serving.py`: files that are written atomically; the layout of model servers.
"""
