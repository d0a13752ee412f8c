"""Rules of conduct as pure functions: robots.txt, pauses between fetches, priorities."""
