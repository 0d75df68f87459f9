"""What a cycle is: frozen data, and the arithmetic on it that needs no solver."""
