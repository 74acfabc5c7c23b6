"""`python -m paddle2ov` is the command line."""

from paddle2ov.cli import main

main()
