"""What a Paddle says of itself."""

import io
import sys
from contextlib import redirect_stdout

from gen_models.harness.spec import import_paddle
from gen_models.harness.store import worker


def told(python, code):
    """What code prints in an interpreter that has Paddle: this one, or that of the worker for legacy models."""
    if python != sys.executable:
        return worker().printed(code)
    import_paddle()
    with redirect_stdout(io.StringIO()) as printed:
        exec(code, {})
    return printed.getvalue()
