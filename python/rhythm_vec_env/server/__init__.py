"""The package of app.py, which starts the server."""
