"""What `verify`, `check` and the tests compare with: distances, Paddle's process, graphs evaluated node by node."""
