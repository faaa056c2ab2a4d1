"""Races against comparable libraries: ``jounce bench``.

Each file of `peers` handles one of them and imports it only where it is used. `cases` defines what is raced; `run`
checks that the answers agree, and `race` measures the times; `goals` defines how fast jounce should be; `report`,
`figure` and `page` show the results.
"""
