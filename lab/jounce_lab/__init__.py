"""Work done with jounce: the papers' experiments reproduced, and races against other libraries."""
