"""From raw scenarios to proven Harbor task directories."""
