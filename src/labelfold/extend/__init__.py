"""Maps that carry an embedding to new points."""
