"""Processes: the pool of fetchers, the queue between two processes, how one is started, signals, memory settings."""
