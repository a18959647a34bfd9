#!/bin/sh
# D-Bus and Avahi of a machine on the LAN (see lan.sh); to be run there.
#
#   lan-daemon.sh configure both|ipv4|ipv6      writes /run/avahi.conf and starts a bus
#   lan-daemon.sh start                         starts Avahi; its id is in /run/avahi.pid, its log in /run/avahi.log
set -eu

# COMMAND...: waits until it holds, for up to 10 s.
await() {
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 200 ] || { cat /run/*.log >&2; exit 1; }
        sleep 0.05
    done
}

case $1 in
    configure)
        # A bus of its own, that starts no services by itself: a daemon that is stopped stays away.
        cat >/run/bus.conf <<'END'
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
    "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
    <type>system</type>
    <listen>unix:path=/run/dbus/system_bus_socket</listen>
    <auth>EXTERNAL</auth>
    <policy context="default">
        <allow user="*"/>
        <allow own="*"/>
        <allow send_destination="*"/>
        <allow receive_sender="*"/>
    </policy>
</busconfig>
END
        [ "$2" = ipv6 ] && ipv4=no || ipv4=yes
        [ "$2" = ipv4 ] && ipv6=no || ipv6=yes
        cat >/run/avahi.conf <<END
[server]
use-ipv4=$ipv4
use-ipv6=$ipv6
ratelimit-interval-usec=1000000
ratelimit-burst=1000
[wide-area]
enable-wide-area=no
[publish]
publish-hinfo=no
publish-workstation=no
END
        mkdir -p /run/dbus /run/avahi-daemon
        dbus-daemon --config-file=/run/bus.conf --nofork --nopidfile >/run/bus.log 2>&1 </dev/null &
        echo $! >/run/bus.pid
        await test -S /run/dbus/system_bus_socket
        ;;
    start)
        avahi-daemon --no-drop-root --no-rlimits --no-chroot --file /run/avahi.conf >/run/avahi.log 2>&1 </dev/null &
        echo $! >/run/avahi.pid
        # Not before the host name is established: a daemon that is not running yet refuses services.
        await grep -qs 'Server startup complete' /run/avahi.log
        ;;
    *) exit 2 ;;
esac
