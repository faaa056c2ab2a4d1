"""What is fuzzed: `check(data)`, `seeds()` and `WORDS`, one file each."""
