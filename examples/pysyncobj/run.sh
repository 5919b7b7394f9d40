#!/bin/sh
# Fuzz two releases of PySyncObj, each in an environment of its own: sh examples/pysyncobj/run.sh [runs]
set -e
for release in 0.3.14 0.3.17; do
    environment=.venv-pysyncobj-$release
    if [ ! -e "$environment/ready" ]; then
        "${PYTHON:-python3}" -m venv "$environment"
        "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --editable . "pysyncobj==$release"
        touch "$environment/ready"
    fi
    "$environment/bin/python" examples/pysyncobj/run.py "${1:-200}"
done
