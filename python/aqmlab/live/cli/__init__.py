"""Commands with real traffic: live, shape."""
