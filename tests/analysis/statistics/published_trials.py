"""
Trials and moments that publications print, to compute again what was computed from them elsewhere.

Copying times in seconds: one of the printed trials of Windows 98 is lost, so that their numbers go
from 2 to 5. Throughput in Mbit/s with printed standard deviations of 40 runs: what a range's ends
are, at the sizes they belong to.
"""

from lanlab.analysis.statistics.samples import PrintedMean

W98 = {
    ("tcpip", 1): [263, 263, 261, 263],
    ("tcpip", 2): [286, 287, 286, 288],
    ("nwlink", 1): [320, 323, 319, 321],
    ("nwlink", 2): [260, 260, 260, 260],
    ("netbeui", 1): [266, 264, 265, 264],
    ("netbeui", 2): [285, 299, 293, 290],
}
W2K = {
    ("tcpip", 1): [81, 84, 79, 82, 84],
    ("tcpip", 2): [113, 115, 115, 112, 111],
    ("nwlink", 1): [117, 120, 121, 127, 126],
    ("nwlink", 2): [126, 136, 131, 126, 132],
    ("netbeui", 1): [117, 126, 125, 129, 128],
    ("netbeui", 2): [124, 130, 132, 138, 137],
}

VISTA = {
    ("ipv4", 128): PrintedMean(26.5, 0.43, 40),
    ("ipv6", 128): PrintedMean(24.0, 0.46, 40),
    ("ipv4", 1408): PrintedMean(85.6, 0.38, 40),
    ("ipv6", 1408): PrintedMean(84.6, 0.38, 40),
}
XP = {
    ("ipv4", 384): PrintedMean(79.8, 0.75, 40),
    ("ipv6", 384): PrintedMean(58.8, 0.55, 40),
    ("ipv4", 1152): PrintedMean(86.0, 0.69, 40),
    ("ipv6", 1152): PrintedMean(75.6, 0.71, 40),
}
