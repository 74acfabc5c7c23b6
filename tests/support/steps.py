"""Counts what a call does, which other processes of the machine do not change as they change its time."""

import sys


def steps(work):
    """How many instructions of Python a call runs; those inside of a function of C are not counted."""
    count, tracer = 0, sys.gettrace()

    def trace(frame, event, argument):
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(tracer)
    return count
