"""Price catalogs of clouds, read into offerings."""
