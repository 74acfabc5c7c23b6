"""Scripts for developers, most of them behind a target of the Makefile: `python -m tools.coverage --check`."""
