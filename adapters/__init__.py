"""The outside world: snapshots and inventories in, plans out."""
