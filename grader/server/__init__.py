"""`fairclock serve`: students hand in over the network, and staff grade, in a browser or with `fairclock submit`."""
