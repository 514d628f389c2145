"""Starts the server."""
