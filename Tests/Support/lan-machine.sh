#!/bin/sh
# Gives an interface of a machine on the LAN its addresses (see lan.sh).
#
#   lan-machine.sh DIGIT INTERFACE N both|ipv4|ipv6      10.7DIGIT.0.N/24, fd7DIGIT::N/64 and fe80::7DIGIT:N/64
set -eu
ip link set "$2" addrgenmode none
if [ "$4" = ipv4 ]; then
    echo 1 >"/proc/sys/net/ipv6/conf/$2/disable_ipv6"
    echo 1 >/proc/sys/net/ipv6/conf/lo/disable_ipv6
else
    # nodad: no wait until nobody else has the address. It stays when the cable is pulled.
    echo 1 >"/proc/sys/net/ipv6/conf/$2/keep_addr_on_down"
    ip address add "fd7$1::$3/64" dev "$2" nodad
    ip address add "fe80::7$1:$3/64" dev "$2" nodad
fi
if [ "$4" = ipv6 ]; then
    ip address flush dev lo scope host 2>/dev/null || true
    ip address add ::1/128 dev lo 2>/dev/null || true
else
    ip address add "10.7$1.0.$3/24" dev "$2"
fi
ip link set "$2" up
# Multicast leaves by a route, and a machine without one for it has no mDNS.
[ "$4" = ipv6 ] || [ "$2" != eth0 ] || ip route add 224.0.0.0/4 dev "$2"
