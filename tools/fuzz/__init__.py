"""Bad and extreme input, drawn by number, for everything that takes input."""
