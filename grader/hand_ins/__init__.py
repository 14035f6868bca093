"""What students hand in, and how: folders, zips, notebooks, and why some of it is refused."""
