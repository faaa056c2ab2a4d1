"""What is done with jounce: the papers' experiments repeated, and races against other libraries."""
