"""A message bus of its own with a service on it: a part of a desktop, an Avahi daemon, or one that misbehaves.

    desktop.py [portal --picture FILE | portal --refuse | notifications [--can CAPABILITY …] [--choose ACTION] |
                avahi --state NUMBER | odd]

With `--choose`, somebody chooses that action of each notification before its number is known.

Prints a line of JSON with the bus's address when all is ready, then one for every call. Ends with its standard input,
whose lines steer the notifications:

    choose NUMBER ACTION     Somebody has chosen an action of a notification.
    forge NUMBER ACTION      Another program on the bus claims so, to whoever showed the notification.
    hang_up                  The bus ends.
"""
import argparse, json, os, shutil, subprocess, sys, tempfile, threading

import dbus, dbus.lowlevel, dbus.mainloop.glib, dbus.service
from gi.repository import GLib

PORTAL = "org.freedesktop.portal.Desktop"
NOTIFICATIONS, NOTIFICATIONS_PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
AVAHI = "org.freedesktop.Avahi"
ODD = "org.example.Odd"


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


class Notifications(dbus.service.Object):
    """Desktop Notifications Specification 1.2."""

    def __init__(self, bus, options):
        super().__init__(dbus.service.BusName(NOTIFICATIONS, bus), NOTIFICATIONS_PATH)
        self.capabilities, self.daemon, self.shown, self.other = options.can, options.daemon, {}, None
        self.choice = options.choose

    @dbus.service.method(NOTIFICATIONS, out_signature="as")
    def GetCapabilities(self):
        return dbus.Array(self.capabilities, signature="s")

    @dbus.service.method(NOTIFICATIONS, in_signature="susssasa{sv}i", out_signature="u", sender_keyword="sender")
    def Notify(self, program, replaced, icon, title, body, actions, hints, time, sender):
        number = len(self.shown) + 1
        self.shown[number] = sender
        tell(call="Notify", number=number, title=title, body=body, actions=actions, urgency=hints.get("urgency"))
        if self.choice:
            self.ActionInvoked(number, self.choice)
        return number

    @dbus.service.method(NOTIFICATIONS, in_signature="u")
    def CloseNotification(self, number):
        tell(call="CloseNotification", number=number)

    @dbus.service.signal(NOTIFICATIONS, signature="us")
    def ActionInvoked(self, number, action):
        pass

    @dbus.service.signal(NOTIFICATIONS, signature="uu")
    def NotificationClosed(self, number, reason):
        pass

    def choose(self, number, action):
        self.ActionInvoked(int(number), action)
        self.NotificationClosed(int(number), 2)

    def forge(self, number, action):
        self.other = self.other or dbus.bus.BusConnection(os.environ["DBUS_SESSION_BUS_ADDRESS"])
        signal = dbus.lowlevel.SignalMessage(NOTIFICATIONS_PATH, NOTIFICATIONS, "ActionInvoked")
        signal.set_destination(self.shown[int(number)])
        signal.append(dbus.UInt32(number), action)
        self.other.send_message(signal)
        self.other.flush()

    def hang_up(self):
        self.daemon.kill()


class Odd(dbus.service.Object):
    """What no service should do, and every type of value."""

    def __init__(self, bus, options):
        super().__init__(dbus.service.BusName(ODD, bus), NOTIFICATIONS_PATH)
        self.daemon, self.name = options.daemon, dbus.service.BusName(NOTIFICATIONS, bus)

    @dbus.service.method(NOTIFICATIONS, out_signature="u")
    def GetCapabilities(self):
        return 3

    @dbus.service.method(ODD, in_signature="ybiusasa{sv}", out_signature="a{sv}assuiby")
    def Turn(self, byte, flag, signed, unsigned, text, texts, entries):
        return entries, texts, text, unsigned, signed, flag, byte

    @dbus.service.method(ODD, out_signature="nqxtdogvvava(is)aua{us}a{ss}a{sv}s")
    def Types(self):
        deep = dbus.String("deep", variant_level=9)
        return (-1, 2, 3, 4, 5.5, "/o", "s", deep, dbus.Struct((1, 2), signature="ii", variant_level=1), [deep],
                [(1, "a")], [7], {1: "a"}, {"a": "b"}, {"in": dbus.Dictionary({"x": True}, signature="sv")}, "end")

    @dbus.service.method(ODD, out_signature="s")
    def Refuse(self):
        raise dbus.DBusException("not today", name=ODD + ".Tired")

    @dbus.service.method(ODD, in_signature="u", out_signature="s")
    def Size(self, count):
        return "x" * count

    @dbus.service.method(ODD, async_callbacks=("reply", "fail"))
    def Keep(self, reply, fail):
        tell(call="Keep")

    @dbus.service.method(ODD, async_callbacks=("reply", "fail"))
    def HangUp(self, reply, fail):
        self.daemon.kill()


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
    parser.add_argument("--can", action="append", default=[])
    parser.add_argument("--choose")
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
        options.daemon = daemon
        try:
            address = daemon.stdout.readline().decode().strip()
            os.environ["DBUS_SESSION_BUS_ADDRESS"] = address
            dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
            loop = GLib.MainLoop()
            bus = dbus.bus.BusConnection(address)
            bus.set_exit_on_disconnect(False)
            services = {"portal": Portal, "notifications": Notifications, "avahi": Avahi, "odd": Odd}
            service = services[options.service](bus, options) if options.service else None

            def steer():
                for line in sys.stdin:
                    command, *words = line.split()
                    GLib.idle_add(getattr(service, command), *words)
                # In the loop: a quit before it runs would be lost.
                GLib.idle_add(loop.quit)

            threading.Thread(target=steer, daemon=True).start()
            tell(address=address)
            loop.run()
        finally:
            daemon.kill()
            daemon.wait()


main()
