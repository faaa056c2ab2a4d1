"""What is fuzzed, one file per target: `check(data)`, `seeds()` and `WORDS`."""
