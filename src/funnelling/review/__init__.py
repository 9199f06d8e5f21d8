"""What people should look at, and what they decided."""
