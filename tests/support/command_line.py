"""The command line in this process."""

from click.testing import CliRunner

from paddle2ov.commands.group import cli
from paddle2ov.jobs.executor import Outcome


def call(*arguments):
    """What `paddle2ov` with these arguments prints and returns."""
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], prog_name="paddle2ov")


class Inline:
    """An executor that runs jobs here, and counts; one whose name is in `dies` takes its process with it."""

    def __init__(self, *dies):
        self.dies, self.ran = [*dies], []

    def run(self, function, jobs):
        for job in jobs:
            self.ran.append(job.name)
            yield Outcome(job, failure="its process died") if job.name in self.dies else Outcome(job, function(job))
