"""Compares a converted model with Paddle, and finds the operator at fault where they differ: `verify`.

- `verify.py`, `results.py`: the entry point; its result types;
- `faults.py`: what is at fault where they differ, as reported;
- `runs.py`: all sets of inputs; `both_sides.py`: one of them;
- `inputs.py`, `images.py`: the user's arrays and pictures;
- `random_inputs.py`, `usual_sizes.py`: random ones; `linked_sizes.py`, `index_ranges.py`: what fits;
- `paddle_faults.py`: what Paddle itself computes wrongly;
- `values.py`: values inside the program, on both sides;
- `ties.py`, `orders.py`: whether only the order of equal scores differs;
- `judgement.py`, `float64.py`: whether a difference is Paddle's rounding: Paddle computes the same in float64;
- `precisions.py`, `measures.py`: each precision beside Paddle; what agreement is measured in;
- `localisation.py`: the operator at fault;
- `body_search.py`: the same inside of branches and loops;
- `cutting*.py`, `editing.py`: an operator, or a body, as a Paddle model of its own.
"""
