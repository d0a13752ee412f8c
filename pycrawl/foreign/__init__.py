"""What others have written: text from the web made fit to be shown, and files opened without being led elsewhere."""
