#!/bin/sh
# Fuzz two releases of PySyncObj, each in an environment of its own: sh examples/pysyncobj/run.sh [runs]
set -e
runs=${1:-200}
echo "Fuzzing PySyncObj 0.3.14 and 0.3.17, $runs runs of each of 4 scenarios."
echo "200 runs of each take about two minutes in all, on one core; before that, each release is installed once."
for release in 0.3.14 0.3.17; do
    environment=.venv-pysyncobj-$release
    if [ ! -e "$environment/ready" ]; then
        echo "Installing it in $environment ..."
        "${PYTHON:-python3}" -m venv "$environment"
        "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --editable . "pysyncobj==$release"
        touch "$environment/ready"
    fi
    "$environment/bin/python" examples/pysyncobj/run.py "$runs"
done
