"""What OpenVINO graphs are built with: the opset, element types, shapes, complex pairs, integers, loops."""
