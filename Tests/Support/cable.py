#!/usr/bin/env python3
"""A bad cable between two network interfaces: loses and delays what goes over it (see lan.sh).

    cable.py PORT-A PORT-B LOSS-PERCENT DELAY-MS READY-FILE
    cable.py --no-offload INTERFACE       makes an interface compute its own checksums and cut its own segments
"""
import array
import fcntl
import heapq
import random
import select
import socket
import struct
import sys
import time

ETH_P_ALL = 3
PACKET_OUTGOING = 4
SIOCETHTOOL = 0x8946
# ETHTOOL_STXCSUM, ETHTOOL_STSO, ETHTOOL_SGSO
OFFLOADS = (0x17, 0x1F, 0x24)


def no_offload(interface):
    # Frames that a process carries from one packet socket to another keep what the sender left undone.
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for command in OFFLOADS:
        value = array.array("B", struct.pack("II", command, 0))
        address, _ = value.buffer_info()
        fcntl.ioctl(probe, SIOCETHTOOL, struct.pack("16sP", interface.encode(), address))


def port(interface):
    result = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    result.bind((interface, ETH_P_ALL))
    # PACKET_ADD_MEMBERSHIP, PACKET_MR_PROMISC
    membership = struct.pack("iHH8s", socket.if_nametoindex(interface), 1, 0, b"")
    result.setsockopt(263, 1, membership)
    return result


def main():
    if sys.argv[1] == "--no-offload":
        return no_offload(sys.argv[2])
    first, second, loss, delay, ready = sys.argv[1:]
    no_offload(first)
    no_offload(second)
    ports = [port(first), port(second)]
    # Reproducible: the same frames are lost in the same order of arrival.
    dice = random.Random(1)
    waiting, count = [], 0
    open(ready, "w", encoding="ascii").close()
    while True:
        pause = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        readable, _, _ = select.select(ports, [], [], pause)
        for source in readable:
            frame, address = source.recvfrom(65536)
            if address[2] == PACKET_OUTGOING or dice.random() * 100 < float(loss):
                continue
            count += 1
            target = ports[1 - ports.index(source)]
            heapq.heappush(waiting, (time.monotonic() + float(delay) / 1000, count, target, frame))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, target, frame = heapq.heappop(waiting)
            try:
                target.send(frame)
            except OSError:
                # The link is down: lost.
                pass


main()
