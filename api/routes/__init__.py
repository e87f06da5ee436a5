"""What the API does, one file per resource; each lists its operations as ``OPERATIONS``."""
