"""The commands, and how results look."""
