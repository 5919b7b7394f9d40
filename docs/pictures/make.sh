#!/bin/sh
# The pictures of the documentation, drawn by clew itself:  make pictures
#
# By hand, from the root of the checkout:  sh docs/pictures/make.sh [FOLDER]
# CLEW names the command if it is not on the path.  tests/test_pictures.py draws them all again and compares.
set -eu

clew=${CLEW:-clew}
to=${1:-docs/pictures}

draw() { # exit code 1 says that the faults break the promise, which is what most of these show
    # shellcheck disable=SC2086  # the command may have arguments of its own
    $clew run "$@" >/dev/null || test $? -eq 1
}

# the tutorial: the five rounds
draw examples/simple-deliv.ded --lose a,c,1 \
    --svg "$to/simple-deliv.svg" --lineage "$to/simple-deliv-lineage.svg"
draw examples/retry-deliv.ded --lose a,b,1 --crash a,2 \
    --svg "$to/retry-deliv.svg" --lineage "$to/retry-deliv-lineage.svg"
draw examples/redun-deliv.ded --eot 4 --lineage "$to/redun-deliv-lineage.svg"
draw examples/redun-deliv-late.ded --eot 4 --lose a,b,1 --lose a,c,1 --lose a,c,2 --crash a,3 \
    --svg "$to/redun-deliv-late.svg"
draw examples/ack-deliv.ded --eot 5 --lose a,c,1 --lose a,c,2 --crash b,1 \
    --svg "$to/ack-deliv-retries.svg" --lineage "$to/ack-deliv-lineage.svg"
draw examples/classic-deliv.ded --lose a,b,1 --lose c,a,2 --lose c,b,2 \
    --svg "$to/classic-deliv.svg" --lineage "$to/classic-deliv-lineage.svg"

# how to read a report: Kafka
draw examples/kafka.ded --svg "$to/kafka-failure-free.svg"
draw examples/kafka.ded --lose b,Z,1 --lose c,Z,1 --crash a,4 \
    --svg "$to/kafka.svg" --lineage "$to/kafka-lineage.svg"

# and what stays away
draw examples/reservation.ded --delay H,T,2,2 --delay T,H,2,1 --delay T,H,3,2 \
    --lineage "$to/reservation-lineage.svg"
