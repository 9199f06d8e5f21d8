"""Word vectors in a space that all languages share: reading, learning and inspecting them."""
