"""Money: what hosts cost each run, what that is worth to it, and what runs may spend together."""
