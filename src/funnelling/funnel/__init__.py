"""The funnel: its design, tier 1 over views, tier 2, the search for a design, and learning on."""
