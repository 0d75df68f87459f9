"""Reasons in words: why runs wait, and why those placed are where they are."""
