"""A race with the libraries next to jounce: ``jounce bench``.

Each file of `peers` knows one of them and imports it only where it is used. `cases` says what is raced; `run` checks
that the answers agree, and `race` takes the times; `goals` says how fast jounce wants to be; `report`, `figure` and
`page` show it.
"""
