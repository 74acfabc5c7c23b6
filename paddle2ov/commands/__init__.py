"""Commands of the command line that fill a module of their own."""
