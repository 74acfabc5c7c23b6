"""Does the converted model compute what Paddle computes, and if not, which operator does not: `verify`.

- `verify.py`, `results.py`: the entry point; its result types;
- `both_sides.py`: runs both sides on one set of inputs, and compares;
- `faults.py`: what is at fault where they differ, as reported;
- `inputs.py`, `images.py`: what they are run on;
- `paddle_process.py`, `reference.py`: Paddle, in a process of its own;
- `deadline.py`: when to stop;
- `comparison.py`: how far two tensors are apart;
- `values.py`: values inside the program, on both sides;
- `ties.py`, `orders.py`: whether only the order of equal scores differs;
- `judgement.py`, `float64.py`: whether Paddle rounds, by what it computes in float64;
- `localisation.py`: the operator at fault;
- `body_search.py`, `body*.py`: the same inside of branches and loops;
- `extract.py`: that operator as a Paddle model of its own;
- `editing.py`: edits programs' files.
"""
