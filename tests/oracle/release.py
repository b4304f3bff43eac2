"""Prints which interpreter this is: `cpython 3.12.1`."""
import sys

print(sys.implementation.name, "%d.%d.%d" % sys.version_info[:3])
