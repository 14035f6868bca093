"""Read the files that students hand in: folders, zips and notebooks. Refuse files that cannot be used."""
