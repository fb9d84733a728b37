"""Checkpoints in the safetensors format: read, compared with a config, and explained.

Only headers are ever read, never the numbers behind them. May import the counting core,
but neither rendering nor the command line.
"""
