"""A reader of sealed files, written from docs/format-seal.md alone.

It exists to check that page: where the two disagree with the program, one of the three is wrong. It is for tests. It keeps secrets in
ordinary Python objects, holds the whole of the data in memory, and is nobody's first choice for opening a file.
"""
