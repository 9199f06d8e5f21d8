"""Word vectors in a space that all languages share: reading and learning them."""
