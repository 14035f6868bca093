"""Keep the results of a benchmark in a file, so that a later run continues an interrupted run."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from jobs import Batch, BenchmarkError, Job, play
from tally import Judgement, Trial

from harness.machine.environment import Environment
from harness.paired.duel_result import Finding


@dataclass(slots=True)
class Ledger:
    """The saved trials of one benchmark run. A file that was made with other `settings` is refused."""

    path: Path | None
    settings: Mapping[str, object]
    trials: list[Trial] = field(default_factory=list)

    @classmethod
    def opened(cls, path: Path | None, settings: Mapping[str, object]) -> "Ledger":
        """Return the ledger in the file, or a new ledger. Raise `BenchmarkError` if the file has other settings."""
        ledger = cls(path, settings)
        if path is None or not path.exists():
            return ledger
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["settings"] != settings:
            raise BenchmarkError(f"{path} was made with {kept['settings']}, not {settings}; give another --json file.")
        ledger.trials = [_trial(record) for record in kept["trials"]]
        return ledger

    def holds(self, batch: Batch) -> bool:
        """Return whether every job of the batch has been run."""
        return not self._left(batch)

    def play(self, batch: Batch) -> None:
        """Run the remaining jobs of the batch, and save the results. The machine must be under its load."""
        jobs = self._left(batch)
        for job, judgements in zip(jobs, play(jobs) if jobs else (), strict=True):
            self.trials += [
                Trial(batch.load, job.work, job.truth, batch.repetition, job.tool, judgement)
                for judgement in judgements
            ]
        self._keep()

    def _left(self, batch: Batch) -> list[Job]:
        played = {(trial.load, trial.repetition, trial.tool, trial.work, trial.truth) for trial in self.trials}
        return [
            job for job in batch.jobs if (batch.load, batch.repetition, job.tool, job.work, job.truth) not in played
        ]

    def _keep(self) -> None:
        """Replace the file atomically, so that a killed run leaves the previous file."""
        if self.path is None:
            return
        record = {
            "settings": dict(self.settings),
            "environment": Environment.capture().to_dict(),
            "trials": [asdict(trial) for trial in self.trials],
        }
        fresh = self.path.with_name(self.path.name + ".new")
        fresh.write_text(json.dumps(record, indent=1), encoding="utf-8")
        fresh.replace(self.path)


def _trial(record: dict[str, Any]) -> Trial:
    told = record["judgement"]
    return Trial(**{**record, "judgement": Judgement(**{**told, "finding": Finding(told["finding"])})})
