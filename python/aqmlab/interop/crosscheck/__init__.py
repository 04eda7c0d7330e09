"""The same scenario in other simulators: scripts for them, their runs beside ours, and where they agree."""
