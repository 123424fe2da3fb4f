"""Engines that run tasks: in this process, in local processes, on a Ray cluster."""
