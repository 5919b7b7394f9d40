#!/bin/sh
# The ZooKeeper with which ordering is tested: its jars and a Java to run them, from the packages of a Debian system.
# No service is installed or started; tests start a server of their own.
# shellcheck disable=SC2034  # used by what is sourced
set -eu

name=zookeeper
packages='libzookeeper-java default-jre-headless'
missing='ZooKeeper is not here'
it='it'
untested='ordering will NOT be tested with ZooKeeper'
instead='Set ZOOKEEPER_JARS to a folder with its jars to run them.'

found() {
    command -v java >/dev/null && [ -e "${ZOOKEEPER_JARS:-/usr/share/java}/zookeeper.jar" ]
}

. "${0%/*}/../debian_packages.sh"
