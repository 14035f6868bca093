"""All that runs inside a sandbox, beside the submission itself; nothing here imports anything that is not there."""
