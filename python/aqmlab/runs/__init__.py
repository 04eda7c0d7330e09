"""Run scenarios over their seeds, many at a time: `runner`, `comparison`, and the pool of workers behind them."""
