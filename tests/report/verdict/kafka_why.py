"""Why Kafka loses an acknowledged write, as the terminal says it."""

from __future__ import annotations

KAFKA_WHY = [
    "Why pre(C, w1): given 'pre', post(C, w1) had 9 supports without faults; each is cut:",
    "  C(a,4) cuts write C→a@1, ✗ a never crashes",
    "  C(a,4) cuts report a→Z@1, leader Z→C@2, write C→a@3, ✗ a never crashes",
    "  C(a,4) cuts report a→Z@2, leader Z→C@3, write C→a@4, ✗ a never crashes",
    "  O(b,Z,1) cuts ✗ report b→Z@1, isr Z→a@2, leader Z→a@2, forward a→b@3, b never crashes, and 2 more",
    "  O(c,Z,1) cuts ✗ report c→Z@1, isr Z→a@2, leader Z→a@2, forward a→c@3, c never crashes, and 2 more",
    "  C(a,4) cuts report b→Z@2, isr Z→a@3, leader Z→a@3, ✗ forward a→b@4, b never crashes, and 2 more",
    "  C(a,4) cuts report c→Z@2, isr Z→a@3, leader Z→a@3, ✗ forward a→c@4, c never crashes, and 2 more",
    "  C(a,4) cuts write C→a@3, isr Z→a@3, leader Z→a@3, ✗ forward a→b@4, b never crashes, and 4 more",
    "  C(a,4) cuts write C→a@3, isr Z→a@3, leader Z→a@3, ✗ forward a→c@4, c never crashes, and 4 more",
    "  without O(b,Z,1): report b→Z@1 arrives, isr(b) Z→a@2, awaited(a, w1)@3, no acked a→C@3:",
    "    pre(C, w1) does not hold",
    "  without O(c,Z,1): report c→Z@1 arrives, isr(c) Z→a@2, awaited(a, w1)@3, no acked a→C@3:",
    "    pre(C, w1) does not hold",
    "  without C(a,4): a stays up: post(C, w1) holds",
    "  How it arose:",
    "    1  report b→Z is lost: O(b,Z,1); report c→Z is lost: O(c,Z,1)",
    "    3  acked a→C",
    "    4  a crashes: C(a,4)",
    "    6  pre(C, w1) holds, post(C, w1) does not",
]
