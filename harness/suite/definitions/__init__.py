"""Files of definitions: `standard`, what the suite measures unless told otherwise, and its `setup`."""
