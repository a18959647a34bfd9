"""A daemon of Tailscale that answers one question on its local socket: which machines there are.

usage: tailscale.py SOCKET NAME=ADDRESS...     a name that begins with - is offline
"""
import json
import socketserver
import sys
from http.server import BaseHTTPRequestHandler

PEERS = {f"nodekey:{number}": {"HostName": name.lstrip("-"), "DNSName": f"{name.lstrip('-')}.tail1.ts.net.", "OS": "linux",
                               "TailscaleIPs": [address], "Online": not name.startswith("-")}
         for number, (name, address) in enumerate(word.split("=") for word in sys.argv[2:])}


class Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        known = self.path == "/localapi/v0/status" and self.headers["Host"] == "local-tailscaled.sock"
        body = json.dumps({"Version": "1.80.0", "BackendState": "Running", "Self": {"HostName": "desk"}, "Peer": PEERS}).encode()
        self.send_response(200 if known else 403)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self) -> str:
        return "local"


socketserver.ThreadingUnixStreamServer(sys.argv[1], Answer).serve_forever()
