"""Few-label benchmark: every method on the same rows and the same draws of labels."""
