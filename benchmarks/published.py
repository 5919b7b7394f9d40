"""What the paper printed: Figures 12 and 13 (section 5.2), measured with MOLLY in 2015."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """One row.  Walls are in seconds; Figure 13 prints no walls and has no random search."""

    program: str
    rules: int
    eot: int
    eff: int
    combinations: float
    executions: int
    wall: float | None = None
    random_executions: float | None = None
    random_wall: float | None = None


FIGURE_12 = (
    Published("simple-deliv", 4, 4, 2, 4.10e3, 2, 0.12, 4.08, 0.16),
    Published("retry-deliv", 5, 4, 2, 4.07e4, 3, 0.12, 75.24, 1.28),
    Published("classic-deliv", 5, 5, 3, 2.62e5, 5, 0.24, 116.16, 1.81),
    Published("2pc", 16, 5, 0, 24, 2, 0.22, 5.48, 0.31),
    Published("2pc-ctp", 25, 8, 0, 36, 3, 1.01, 8.56, 1.04),
    Published("3pc", 24, 9, 7, 2.43e26, 55, 9.60, 40.60, 6.24),
    Published("kafka", 18, 6, 4, 1.85e25, 38, 3.74, 1183.12, 133.30),
)

FIGURE_13 = (
    Published("redun-deliv", 7, 11, 10, 8.07e18, 11),
    Published("ack-deliv", 5, 8, 7, 3.08e13, 673),
    Published("paxos-synod", 33, 7, 6, 4.81e11, 173),
    Published("bully-le", 11, 10, 9, 1.26e17, 2),
    Published("flux", 41, 22, 21, 6.20e76, 187),
)
