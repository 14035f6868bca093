"""Run submissions in sandboxes: confine processes, start them, measure their use of resources, and end them."""
