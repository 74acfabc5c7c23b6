"""What `verify`, `check` and the tests compare with, and how; it knows nothing of either.

- `differences.py`: how far results are apart;
- `paddle_process.py`, `paddle_worker.py`: Paddle, in a process of its own; `deadline.py`: when it is stopped;
- `evaluator.py`, `iterations.py`: evaluates a graph node by node, bodies too;
- `single_node.py`, `numpy_nodes.py`, `tensors.py`: evaluates a single node;
- `rounding.py`, `sensitivity.py`: what rounding may do to the results of a graph.
"""
