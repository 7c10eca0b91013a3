"""Layout benchmark: pictures of the same rows by GraphLayout and other methods, measured."""
