#!/usr/bin/env bash
# Runs a script on a small LAN: machines with a network, a /run, a host name and processes of their own, on a bridge. All of
# it is cut off from the real machine, and everything in there ends with the script.
#
#   lan.sh FILE|- [ARGUMENT...]      bash; - reads the script from standard input
#
# The script has these functions:
#   add_host NAME [--ipv4-only|--ipv6-only] [--daemon] [--second-interface]
#       A machine on the bridge. The Nth one has 10.77.0.N/24, fd77::N/64 and fe80::77:N/64 on `eth0`; with a second
#       interface also 10.78.0.N/24, fd78::N/64 and fe80::78:N/64 on `eth1`, which leads to another bridge.
#       --daemon gives it a D-Bus and an Avahi daemon; otherwise it has neither.
#   add_router NAME                  A machine on the bridge that hides others behind its address (masquerade).
#   add_behind NAME ROUTER [N]       A machine with 192.168.77.N/24 on `eth0` (default: 2), of which nobody outside sees more than
#                                    its router.
#   move_behind NAME ROUTER [N]      Pulls the cable of eth0, and plugs it in behind a router.
#   on NAME COMMAND...               Runs a command there. In the background (`on NAME COMMAND &`), $! is a wrapper that
#                                    passes SIGTERM, SIGINT and SIGHUP on.
#   start NAME COMMAND...            Starts a command there in the background; $! is its own process id.
#   link_down NAME, link_up NAME     Pulls and plugs the cable of eth0.
#   change_address NAME ADDRESS/LEN  Another IPv4 address on eth0, in place of the old one.
#   block_multicast NAME, allow_multicast NAME
#                                    The bridge drops multicast of IPv4, and mDNS over IPv6, from and to the machine.
#   netem NAME [loss PERCENT%] [delay MILLISECONDSms]
#                                    A bad cable, both ways. To be called once, after add_host.
#   start_daemon, stop_daemon, kill_daemon NAME
#                                    Avahi; kill_daemon by SIGKILL. `daemon_pid NAME` prints its process id.
#   pause NAME, resume NAME          SIGSTOP and SIGCONT for all processes of a machine: asleep and awake again.
#   publish NAME [-H HOST] SERVICE TYPE PORT [KEY=VALUE...]
#                                    On a machine with a daemon. Returns when the service is established; $! is avahi-publish.
#   responder NAME                   Starts a raw mDNS responder; `tell NAME COMMAND...` steers it (see responder.py).
#   wait_for_line PATTERN FILE [SECONDS], wait_until [SECONDS] COMMAND...
#                                    Wait, by default up to 20 s, and end the script with 124 if it is in vain.
#   fail MESSAGE                     Ends the script with 1.
# and these variables:
#   $PAIRTOOL   the built binary                $LAN  a directory (/run/lan) that all machines and the script share
#   $PYTHON     a Python 3                      $SUPPORT  the directory of this file
#
# Every machine has its own HOME and XDG directories below its /run, which is a tmpfs.
# Needs root, bash, unshare, nsenter, ip, tc, python3; for --daemon also dbus-daemon and avahi-daemon.
# Exits 125 if the set-up fails, else as the script does.
set -u

if [ "${PAIRTOOL_IN_LAN:-}" != yes ]; then
    PAIRTOOL_IN_LAN=yes exec unshare --net --mount --uts --ipc --pid --fork --kill-child --mount-proc "$0" "$@"
fi
unset PAIRTOOL_IN_LAN DBUS_SYSTEM_BUS_ADDRESS

broken() {
    echo "lan: $*" >&2
    exit 125
}

fail() {
    echo "$*" >&2
    exit 1
}

SUPPORT=$(cd "$(dirname "$0")" && pwd)
LAN=/run/lan
PAIRTOOL=${PAIRTOOL:-$SUPPORT/../../.build/debug/pairtool}
PYTHON=/usr/bin/python3
[ -x $PYTHON ] || PYTHON=python3
export SUPPORT LAN PAIRTOOL PYTHON

mount -t tmpfs tmpfs /run && mkdir -p $LAN/.state $LAN/.machines || broken "no private /run"
hostname lan
ip link set lo up || broken "no lo"
lan_count=0

# Filters need a place for what they drop: a bridge without ports.
for lan_bridge in br0 br1 hole; do
    ip link add $lan_bridge type bridge mcast_snooping 0 && ip link set $lan_bridge addrgenmode none up ||
        broken "no bridge"
done

lan_state() { echo "$LAN/.state/$1.$2"; }
lan_get() { cat "$(lan_state "$1" "$2")" 2>/dev/null || broken "there is no machine $1 with $2"; }
lan_set() { echo "$3" >"$(lan_state "$1" "$2")"; }

# The command line that runs something on a machine, in `lan_enter`.
lan_machine() {
    lan_enter=(nsenter -t "$(lan_get "$1" anchor)" --net --mount --uts env --default-signal=INT,QUIT HOME=/run/home
        XDG_DATA_HOME=/run/home/data XDG_STATE_HOME=/run/home/state XDG_CONFIG_HOME=/run/home/config
        XDG_CACHE_HOME=/run/home/cache XDG_RUNTIME_DIR=/run/home/run TMPDIR=/run/tmp SWIFT_BACKTRACE=enable=no)
}

on() {
    lan_machine "$1"
    shift
    if [ "$BASHPID" = $$ ]; then
        "${lan_enter[@]}" "$@"
        return
    fi
    "${lan_enter[@]}" "$@" <&0 &
    local child=$! status
    trap 'kill -TERM $child' TERM
    trap 'kill -INT $child' INT
    trap 'kill -HUP $child' HUP
    # A signal ends the wait, but maybe not the command.
    while wait $child; status=$?; [ $status -gt 128 ] && kill -0 $child 2>/dev/null; do :; done
    trap - TERM INT HUP
    return $status
}

start() {
    lan_machine "$1"
    shift
    "${lan_enter[@]}" "$@" <&0 &
}

# A port of a machine on a bridge: PREFIX INTERFACE BRIDGE NAME FAMILY
lan_plug() {
    local port=p$2n$lan_count
    ip link add "$port" type veth peer name "$2" netns "$(lan_get "$4" anchor)" &&
        ip link set "$port" addrgenmode none master "$3" up || broken "no link for $4"
    lan_set "$4" "port-$2" "$port"
    lan_set "$4" "filter-$2" "$port"
    on "$4" "$SUPPORT/lan-machine.sh" "$1" "$2" "$lan_count" "$5" || broken "no addresses for $4"
}

add_host() {
    local name=$1 family=both daemon=no second=no plugged=yes anchor
    shift
    while [ $# -gt 0 ]; do
        case $1 in
            --ipv4-only) family=ipv4 ;;
            --ipv6-only) family=ipv6 ;;
            --daemon) daemon=yes ;;
            --second-interface) second=yes ;;
            --unplugged) plugged=no ;;
            *) broken "add_host does not know $1" ;;
        esac
        shift
    done
    lan_count=$((lan_count + 1))
    mkdir "$LAN/.machines/$name" || broken "there is a machine $name already"
    # shellcheck disable=SC2016
    unshare --net --mount --uts sh -c '
        machine=$LAN/.machines/$0
        mount -t tmpfs tmpfs "$machine" && mkdir -p "$machine/lan" "$machine/tmp" &&
            mkdir -m 700 -p "$machine/home/run" && mount --bind "$LAN" "$machine/lan" &&
            mount --rbind "$machine" /run && mount -t sysfs sysfs /sys && hostname "$0" && : >"$LAN/.state/$0.ready" &&
            exec sleep infinity' "$name" &
    anchor=$!
    disown $anchor
    wait_until 10 test -e "$(lan_state "$name" ready)"
    lan_set "$name" anchor $anchor
    lan_set "$name" family $family
    lan_set "$name" index $lan_count
    on "$name" ip link set lo up || broken "no lo for $name"
    [ $plugged = no ] || lan_plug 7 eth0 br0 "$name" $family
    [ $second = no ] || lan_plug 8 eth1 br1 "$name" $family
    if [ $daemon = yes ]; then
        on "$name" "$SUPPORT/lan-daemon.sh" configure "$family" || broken "no D-Bus for $name"
        start_daemon "$name"
    fi
}

add_router() {
    add_host "$1" --ipv4-only
    on "$1" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward && nft add table ip nat &&
        nft "add chain ip nat out { type nat hook postrouting priority 100 ; }" &&
        nft add rule ip nat out oifname eth0 masquerade &&
        ip link add inside type bridge && ip address add 192.168.77.1/24 dev inside && ip link set inside up' ||
        broken "$1 cannot be a router"
}

add_behind() {
    add_host "$1" --unplugged --ipv4-only
    move_behind "$@"
}

move_behind() {
    local port=in$(lan_get "$1" index)
    on "$1" ip link del eth0 2>/dev/null
    ip link add "$port" netns "$(lan_get "$2" anchor)" type veth peer name eth0 netns "$(lan_get "$1" anchor)" &&
        on "$2" ip link set "$port" master inside up &&
        on "$1" sh -c 'ip address add 192.168.77.$0/24 dev eth0 && ip link set eth0 up &&
            ip route add default via 192.168.77.1' "${3:-2}" || broken "$1 does not get behind $2"
}

start_daemon() {
    on "$1" "$SUPPORT/lan-daemon.sh" start || broken "no Avahi daemon for $1"
}

daemon_pid() {
    on "$1" cat /run/avahi.pid
}

lan_end_daemon() {
    local pid
    pid=$(daemon_pid "$1") || broken "$1 has no daemon"
    kill "-$2" "$pid"
    wait_until 10 test ! -d "/proc/$pid"
}

stop_daemon() { lan_end_daemon "$1" TERM; }
kill_daemon() { lan_end_daemon "$1" KILL; }

link_down() { ip link set "$(lan_get "$1" port-eth0)" down; }
link_up() { ip link set "$(lan_get "$1" port-eth0)" up; }

change_address() {
    on "$1" ip -4 address flush dev eth0 && on "$1" ip address add "$2" dev eth0 || broken "no address $2 for $1"
}

block_multicast() {
    local port direction
    port=$(lan_get "$1" filter-eth0)
    tc qdisc add dev "$port" clsact || broken "no filters on $port"
    for direction in ingress egress; do
        # By the Ethernet address: 01:00:5e:… (all of IPv4) and 33:33:00:00:00:fb (mDNS over IPv6; the rest of IPv6's
        # multicast is what finds neighbours).
        tc filter add dev "$port" $direction protocol ip u32 match u16 0x0100 0xffff at -14 match u32 0x5e000000 0xff000000 at -12 \
            action mirred egress redirect dev hole &&
            tc filter add dev "$port" $direction protocol ipv6 u32 match u16 0x3333 0xffff at -14 \
                match u32 0x000000fb 0xffffffff at -12 action mirred egress redirect dev hole ||
            broken "no filter on $port"
    done
}

allow_multicast() { tc qdisc del dev "$(lan_get "$1" filter-eth0)" clsact; }

netem() {
    local name=$1 port a loss=0 delay=0
    shift
    while [ $# -gt 1 ]; do
        case $1 in
            loss) loss=${2%\%} ;;
            delay) delay=${2%ms} ;;
            *) broken "netem does not know $1" ;;
        esac
        shift 2
    done
    # Not every kernel has the queueing discipline of this name: the bad cable is a process between two ports.
    port=$(lan_get "$name" port-eth0)
    a=${port}x
    ip link set "$port" nomaster && ip link add "$a" type veth peer name "${a}y" &&
        ip link set "$a" addrgenmode none up && ip link set "${a}y" addrgenmode none master br0 up ||
        broken "no cable for $name"
    lan_set "$name" filter-eth0 "${a}y"
    "$PYTHON" "$SUPPORT/cable.py" "$port" "$a" "$loss" "$delay" "$(lan_state "$name" cable)" &
    disown $!
    wait_until 10 test -e "$(lan_state "$name" cable)"
}

# The processes of a machine, but not the one that keeps its namespaces.
lan_processes() {
    local anchor space directory
    anchor=$(lan_get "$1" anchor)
    space=$(readlink "/proc/$anchor/ns/net")
    for directory in /proc/[0-9]*; do
        [ "$(readlink "$directory/ns/net")" = "$space" ] && [ "${directory#/proc/}" != "$anchor" ] && echo "${directory#/proc/}"
    done 2>/dev/null
}

lan_signal() {
    local pid
    for pid in $(lan_processes "$2"); do kill "-$1" "$pid" 2>/dev/null; done
    return 0
}

pause() { lan_signal STOP "$1"; }
resume() { lan_signal CONT "$1"; }

lan_publications=0
publish() {
    local name=$1 file
    shift
    lan_publications=$((lan_publications + 1))
    file=$LAN/.state/publish.$lan_publications
    : >"$file"
    start "$name" avahi-publish-service "$@" >"$file" 2>&1
    local pid=$!
    wait_until lan_published $pid "$file"
    grep -q '^Established' "$file" || fail "avahi-publish-service: $(cat "$file")"
}

lan_published() { grep -q '^Established' "$2" || ! kill -0 "$1" 2>/dev/null; }

responder() {
    local pipe
    pipe=$(lan_state "$1" responder)
    mkfifo "$pipe" || broken "$1 has a responder already"
    # Opened for reading too: the responder does not end with the first command.
    start "$1" "$PYTHON" "$SUPPORT/responder.py" <>"$pipe"
    lan_set "$1" responder-pid $!
}

tell() {
    local name=$1
    shift
    # Quoted anew, for the responder to take apart.
    local line
    printf -v line '%q ' "$@"
    echo "$line" >"$(lan_state "$name" responder)"
}

wait_until() {
    local seconds=60
    case $1 in [0-9]*) seconds=$1; shift ;; esac
    local end=$((SECONDS + seconds + 1))
    until "$@"; do
        [ $SECONDS -lt $end ] || { echo "lan: waited $seconds s in vain: $*" >&2; exit 124; }
        sleep 0.05
    done
}

wait_for_line() {
    local seconds=${3:-60}
    local end=$((SECONDS + seconds + 1))
    until grep -qs -e "$1" "$2"; do
        if [ $SECONDS -ge $end ]; then
            echo "lan: no line with “$1” in $2 after $seconds s; it has:" >&2
            tail -n 40 "$2" >&2
            exit 124
        fi
        sleep 0.05
    done
}

lan_script=$1
shift
if [ "$lan_script" = - ]; then
    cat >"$LAN/.state/script"
    lan_script=$LAN/.state/script
fi
exec </dev/null
# shellcheck disable=SC1090
. "$lan_script"
