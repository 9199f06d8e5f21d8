"""Labels from people: what to label next, which labels look wrong, and the page to label on."""
