"""Placeholder until the cost core is in place."""

WORKLOAD_OPTIONS = ("batch_size",)


def cost_options(function):
    return function
