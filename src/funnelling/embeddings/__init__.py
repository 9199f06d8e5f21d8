"""Word vectors in a space that all languages share: read, learned, looked into."""
