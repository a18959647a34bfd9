#!/usr/bin/env python3
"""A bad cable between two network interfaces: loses and delays what goes over it (see lan.sh).

    cable.py PORT-A PORT-B LOSS-PERCENT DELAY-MS READY-FILE
"""
import heapq
import random
import select
import socket
import struct
import sys
import time

ETH_P_ALL = 3
PACKET_OUTGOING = 4
SOL_PACKET, PACKET_ADD_MEMBERSHIP, PACKET_VNET_HDR, PACKET_MR_PROMISC = 263, 1, 15, 1


def port(interface):
    result = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    # In front of a frame: what its sender has left undone (checksums, segments), for whoever gets it.
    result.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    result.bind((interface, ETH_P_ALL))
    membership = struct.pack("iHH8s", socket.if_nametoindex(interface), PACKET_MR_PROMISC, 0, b"")
    result.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP, membership)
    return result


def main():
    first, second, loss, delay, ready = sys.argv[1:]
    ports = [port(first), port(second)]
    # Reproducible: the same frames are lost in the same order of arrival.
    dice = random.Random(1)
    waiting, count = [], 0
    open(ready, "w", encoding="ascii").close()
    while True:
        pause = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        readable, _, _ = select.select(ports, [], [], pause)
        for source in readable:
            try:
                frame, address = source.recvfrom(1 << 17)
            except OSError:
                # The link went down. It says so once.
                continue
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
