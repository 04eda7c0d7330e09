"""What theory says of a queue discipline: queueing, fluid and control models over any drop curve."""
