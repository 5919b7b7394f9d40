#!/bin/sh
# The browser in which the HTML report is tested: chromium and chromedriver, from the packages of a Debian system.
# shellcheck disable=SC2034  # used by what is sourced
set -eu

name=browser
packages='chromium chromium-driver'
missing='chromium and chromedriver are not here'
it='them'
untested='the report will NOT be tested in a browser'
instead='Put both on PATH to run them.'

found() {
    command -v chromium >/dev/null && command -v chromedriver >/dev/null
}

. "${0%/*}/../debian_packages.sh"
