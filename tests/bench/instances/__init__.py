"""Seeded instances, each a real snapshot: read as a user's file is read."""
