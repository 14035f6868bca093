"""What a student does at the desk: find the file that holds the work, check it, hand it in."""
