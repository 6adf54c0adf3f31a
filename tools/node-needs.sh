#!/bin/sh
# Ends with a line that says what is missing, unless a kubelet can run here. What Debian has, it
# installs: runc, the plugins of the pod network, and ip.
set -eu
[ "$(uname)" = Linux ] || { echo "make node needs Linux: a kubelet and its containers run on nothing else" >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "make node has to be root: it starts containers (sudo make node)" >&2; exit 1; }

missing=
command -v runc >/dev/null || missing="$missing runc"
command -v ip >/dev/null || missing="$missing iproute2"
[ -x /usr/lib/cni/bridge ] || [ -x /opt/cni/bin/bridge ] || missing="$missing containernetworking-plugins"
[ -n "$missing" ] || exit 0
command -v apt-get >/dev/null || { echo "make node needs$missing (so Debian calls them): install them and run this again" >&2; exit 1; }
echo "installing$missing, which the kubelet needs"
# shellcheck disable=SC2086 # a list
apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing
