"""The command line in this process, and Python in another one."""

import os
import subprocess
import sys

from click.testing import CliRunner

from gen_models.harness.legacy import ROOT
from paddle2ov.commands.group import cli
from paddle2ov.jobs.executor import Outcome


def call(*arguments):
    """What `paddle2ov` with these arguments prints and returns."""
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], prog_name="paddle2ov")


def python(*arguments, status=0, cwd=ROOT, timeout=None, **environment):
    """What a process of Python that ends with a status has printed."""
    command, variables = [sys.executable, *map(str, arguments)], {**os.environ, **environment}
    done = subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == status, done.stdout + done.stderr
    return done


class Inline:
    """An executor that runs jobs here, and counts; one whose name is in `dies` takes its process with it."""

    def __init__(self, *dies):
        self.dies, self.ran = [*dies], []

    def run(self, function, jobs):
        for job in jobs:
            self.ran.append(job.name)
            yield Outcome(job, failure="its process died") if job.name in self.dies else Outcome(job, function(job))
