"""The checks of `doctor`. Each one examines a part of the machine and returns a finding with advice."""
