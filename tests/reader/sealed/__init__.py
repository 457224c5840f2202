"""A reader of sealed files, written from docs/format-seal.md alone.

The reader checks that page: where the page, the reader and the program disagree, one of the three is wrong. It is for
tests only: it keeps secrets in ordinary Python objects and holds all data in memory.
"""
