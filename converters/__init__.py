"""Converters from Paddle operators to OpenVINO nodes, one module per op or tight family."""
