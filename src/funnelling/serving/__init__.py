"""The web service: a model behind a page and a small HTTP interface."""
