"""What graphs are made of: the opset, element types, shapes, complex pairs, integers, loops."""
