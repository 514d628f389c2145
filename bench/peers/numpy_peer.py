"""Peer: NumPy. Each operation of a step runs over the whole batch before the next one."""

import array_rules
import numpy as np
from protocol import serve

serve(array_rules.begin, lambda state, t, actions: array_rules.step(np, state, t, actions))
