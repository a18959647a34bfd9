"""Writes the bytes of all packets of an interface into a file, one after the other.

usage: record.py INTERFACE FILE
"""
import socket
import sys

with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as line:
    line.bind((sys.argv[1], 0))
    with open(sys.argv[2], "wb", buffering=0) as file:
        while True:
            file.write(line.recv(65536))
