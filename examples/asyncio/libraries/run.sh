#!/bin/sh
# Run libraries from PyPI in Clew's world, each three times, in an environment of their own: sh examples/asyncio/libraries/run.sh
set -e
environment=.venv-asyncio
python=${PYTHON:-python3}
here=examples/asyncio/libraries
if [ ! "$environment/ready" -nt "$here/requirements.txt" ]; then
    echo "Installing the libraries in $environment, once ..."
    "$python" -m venv "$environment"
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --editable . --requirement "$here/requirements.txt"
    touch "$environment/ready"
fi
exec "$environment/bin/python" "$here/run_libraries.py" "$@"
