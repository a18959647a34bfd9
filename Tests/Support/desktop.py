"""A message bus of its own with fake services of a desktop, or a fake Avahi daemon; ends with its standard input.

    desktop.py [portal --picture FILE | portal --refuse | avahi --state NUMBER]

Prints a line of JSON with the bus's address when all is ready, then one for every call.
"""
import argparse, json, os, shutil, subprocess, sys, tempfile, threading

import dbus, dbus.mainloop.glib, dbus.service
from gi.repository import GLib

PORTAL = "org.freedesktop.portal.Desktop"
AVAHI = "org.freedesktop.Avahi"


def tell(**fields):
    print(json.dumps(fields), flush=True)


class Request(dbus.service.Object):
    @dbus.service.signal("org.freedesktop.portal.Request", signature="ua{sv}")
    def Response(self, response, results):
        pass


class Portal(dbus.service.Object):
    def __init__(self, bus, options):
        super().__init__(dbus.service.BusName(PORTAL, bus), "/org/freedesktop/portal/desktop")
        self.options, self.bus, self.count = options, bus, 0
        self.other = Request(bus, "/org/freedesktop/portal/desktop/request/other/0")

    @dbus.service.method(
        "org.freedesktop.portal.Screenshot", in_signature="sa{sv}", out_signature="o", sender_keyword="sender"
    )
    def Screenshot(self, window, options, sender):
        self.count += 1
        path = f"/org/freedesktop/portal/desktop/request/{sender[1:].replace('.', '_')}/t{self.count}"
        request = Request(self.bus, path)
        results = {}
        if self.options.picture:
            # Portals make a file for each picture; whoever asked removes it.
            target = os.path.join(os.path.dirname(self.options.picture), f"Screenshot from today {self.count}.png")
            shutil.copy(self.options.picture, target)
            results["uri"] = "file://" + target.replace(" ", "%20")
        tell(call="Screenshot", interactive=bool(options.get("interactive", True)))

        def answer():
            self.other.Response(dbus.UInt32(2), {})
            request.Response(dbus.UInt32(1 if self.options.refuse else 0), dbus.Dictionary(results, signature="sv"))
            return False

        GLib.idle_add(answer)
        return path


class Avahi(dbus.service.Object):
    """What says how the daemon is."""

    def __init__(self, bus, options):
        super().__init__(dbus.service.BusName(AVAHI, bus), "/")
        self.state = options.state

    @dbus.service.method(AVAHI + ".Server", out_signature="s")
    def GetVersionString(self):
        return "avahi 0.8"

    @dbus.service.method(AVAHI + ".Server", out_signature="s")
    def GetHostNameFqdn(self):
        return "desk.local"

    @dbus.service.method(AVAHI + ".Server", out_signature="i")
    def GetState(self):
        return self.state


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("service", nargs="?")
    parser.add_argument("--picture")
    parser.add_argument("--refuse", action="store_true")
    parser.add_argument("--state", type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        # A configuration of its own: the machine's may start real services.
        config = os.path.join(folder, "bus.conf")
        with open(config, "w") as file:
            file.write(
                "<busconfig><type>session</type>"
                f"<listen>unix:path={folder}/bus</listen><auth>EXTERNAL</auth>"
                "<policy context='default'><allow send_destination='*' eavesdrop='true'/><allow eavesdrop='true'/>"
                "<allow own='*'/></policy></busconfig>"
            )
        daemon = subprocess.Popen(
            ["/usr/bin/dbus-daemon", "--nofork", "--print-address=1", "--config-file", config],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        )
        try:
            address = daemon.stdout.readline().decode().strip()
            os.environ["DBUS_SESSION_BUS_ADDRESS"] = address
            dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
            loop = GLib.MainLoop()
            bus = dbus.bus.BusConnection(address)
            bus.set_exit_on_disconnect(False)
            service = {"portal": Portal, "avahi": Avahi}.get(options.service)
            keep = service(bus, options) if service else None
            threading.Thread(target=lambda: (sys.stdin.read(), loop.quit()), daemon=True).start()
            tell(address=address)
            loop.run()
            del keep
        finally:
            daemon.kill()
            daemon.wait()


main()
