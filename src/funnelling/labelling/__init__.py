"""Labels from people: what to label next, which labels look wrong, and the page and desk to label on."""
