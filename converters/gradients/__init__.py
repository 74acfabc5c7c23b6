"""Gradients: vector-Jacobian products of other operators, as formulas over `terms.Term`."""
