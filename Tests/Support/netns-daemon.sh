#!/bin/sh
# Runs a command beside a real Avahi daemon and D-Bus, cut off from the machine: in network, mount, process and host
# name namespaces of its own. Everything in there ends when the command does.
#
#   netns-daemon.sh [--no-daemon] COMMAND [ARGUMENT...]
#
# The network has `lo` and `pt0` (10.77.0.1/24 and a link-local IPv6 address). The host name is `ptdaemon`.
# --no-daemon   leaves out D-Bus and Avahi: a machine without either.
# In the command's environment, PAIRTOOL_AVAHI_PID is the daemon's process id.
# Needs root, unshare, ip, dbus-daemon, avahi-daemon and avahi-browse. Exits 125 if the set-up fails, else as the command.
set -u

if [ "${PAIRTOOL_IN_NAMESPACE:-}" != yes ]; then
    PAIRTOOL_IN_NAMESPACE=yes exec unshare --net --mount --uts --ipc --pid --fork --kill-child --mount-proc \
        "$0" "$@"
fi
unset PAIRTOOL_IN_NAMESPACE

fail() {
    echo "netns-daemon: $*" >&2
    exit 125
}

daemon=yes
if [ "${1:-}" = --no-daemon ]; then
    daemon=no
    shift
fi

hostname ptdaemon
mount -t tmpfs tmpfs /run || fail "no private /run"
ip link set lo up || fail "no lo"
# A pair of virtual Ethernet ports, the far one unused: a link with a carrier. nodad: no wait for the IPv6 address.
ip link add pt0 type veth peer name pt1 || fail "no veth"
ip link set pt0 addrgenmode none && ip link set pt1 addrgenmode none
ip address add 10.77.0.1/24 dev pt0 && ip address add fe80::77:1/64 dev pt0 nodad || fail "no addresses"
ip link set pt0 up && ip link set pt1 up || fail "no link"
unset DBUS_SYSTEM_BUS_ADDRESS

if [ "$daemon" = yes ]; then
    mkdir -p /run/dbus /run/avahi-daemon
    dbus-daemon --system --nofork --nopidfile >/run/dbus.log 2>&1 &
    tries=0
    until [ -S /run/dbus/system_bus_socket ]; do
        tries=$((tries + 1))
        [ $tries -lt 200 ] || fail "D-Bus does not start: $(cat /run/dbus.log)"
        sleep 0.05
    done
    cat >/run/avahi.conf <<'EOF'
[server]
host-name=ptdaemon
use-ipv4=yes
use-ipv6=yes
allow-interfaces=lo,pt0
ratelimit-interval-usec=1000000
ratelimit-burst=1000
[wide-area]
enable-wide-area=no
[publish]
publish-hinfo=no
publish-workstation=no
EOF
    avahi-daemon --no-drop-root --no-rlimits --no-chroot --file /run/avahi.conf >/run/avahi.log 2>&1 &
    PAIRTOOL_AVAHI_PID=$!
    export PAIRTOOL_AVAHI_PID
    tries=0
    # Not before the host name is established: a daemon that is not running yet refuses services.
    until grep -qs 'Server startup complete' /run/avahi.log; do
        tries=$((tries + 1))
        [ $tries -lt 200 ] || fail "Avahi does not start: $(cat /run/avahi.log)"
        sleep 0.05
    done
fi

"$@"
