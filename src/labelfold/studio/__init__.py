"""The labeling page: a local server, the journal of labels, and refits in a process of their own."""
