"""From a program to nodes: the translator, what a converter sees, the registry, folding, inputs and results."""
