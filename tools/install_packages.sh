#!/usr/bin/env bash
# Installs the packages of a list that are missing, as root on Debian or Ubuntu, without starting the
# servers among them:
#
#     tools/install_packages.sh LIST
#
# LIST has a line for each: PROGRAM[,PROGRAM ...] or PROGRAM|FILE, PACKAGE ..., `optional`.
set -euo pipefail

is_there() {
    local each
    # A comma: all are needed; a bar: one of them is enough.
    for each in ${1//,/ }; do
        is_one_there "$each" || return 1
    done
}

is_one_there() {
    local each
    IFS='|' read -ra names <<<"$1"
    for each in "${names[@]}"; do
        if [[ $each == /* ]]; then
            ! compgen -G "$each" >/dev/null || return 0
        else
            ! command -v "$each" >/dev/null || return 0
        fi
    done
    return 1
}

wanted=() optional=()
while read -r shown packages; do
    [[ -n $shown && $shown != \#* ]] || continue
    ! is_there "$shown" || continue
    if [[ $packages == *' optional' ]]; then
        optional+=("${packages% optional}")
    else
        read -ra more <<<"$packages"
        wanted+=("${more[@]}")
    fi
done <"$1"
((${#wanted[@]} + ${#optional[@]})) || exit 0

export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
for package in "${optional[@]}"; do
    if apt-cache show "$package" >/dev/null 2>&1; then
        wanted+=("$package")
    else
        echo "$package: not in this release"
    fi
done
((${#wanted[@]})) || exit 0
echo "installing ${wanted[*]}"

# Questions that packages ask.
! command -v debconf-set-selections >/dev/null || debconf-set-selections <<'ANSWERS'
wireshark-common wireshark-common/install-setuid boolean false
iperf3 iperf3/start_daemon boolean false
ANSWERS
install() { apt-get -qq install -y --no-install-recommends "$@" >/dev/null; }
if [[ " ${wanted[*]} " == *' postgresql '* ]]; then
    # Debian's package would make a cluster and start it.
    install postgresql-common
    sed -i 's/^#\?create_main_cluster *=.*/create_main_cluster = false/' \
        /etc/postgresql-common/createcluster.conf
fi
# Packages start their servers unless this program forbids it; one that exists already is kept.
readonly policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    trap 'rm -f -- "$policy"' EXIT
fi
install "${wanted[@]}"
