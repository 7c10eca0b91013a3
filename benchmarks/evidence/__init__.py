"""Whether evidence holds: probabilities, error estimates, sets, sizes, suspects and suggestions."""
