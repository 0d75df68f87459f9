"""Every word of a result that a user reads."""
