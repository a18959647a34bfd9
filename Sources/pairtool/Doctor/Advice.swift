/// What `pairtool doctor` tells to do. docs/troubleshooting.md has each of these sentences.
///
/// A word in braces stands for what is filled in; the document shows it without them.
enum Advice: String, Sendable, CaseIterable {
    case installDaemon = "Nothing, unless other programs need it: sudo apt install avahi-daemon"
    case restartBus = "Restart the system bus and the daemon: sudo systemctl restart dbus avahi-daemon"
    case restartDaemon = """
        Restart the daemon and read what it says: sudo systemctl restart avahi-daemon; journalctl -u \
        avahi-daemon
        """
    case renameMachine = "Give this machine a name of its own: sudo hostnamectl set-hostname NAME"
    case chooseEngine = "Use the other engine: pairtool discover --engine {ENGINE}"
    case endPortOwner = "End {PROGRAM}, or set it up to share the port: sudo ss -ulpn 'sport = :5353'"
    case oneResponder = """
        Leave mDNS to one program: set MulticastDNS=no in /etc/systemd/resolved.conf, then sudo systemctl \
        restart systemd-resolved
        """
    case connect = "Connect to the network that the host is in: ip address"
    case enableMulticast = "Switch multicast on: sudo ip link set {IF} multicast on"
    case chooseInterface = """
        If hosts show up with addresses that do not work, look on your network alone: pairtool discover \
        --interface {IF}
        """
    case behindTunnel = """
        mDNS does not pass VPNs and routers: name a host behind one by its address: pairtool pair --url \
        http://ADDRESS:7878
        """
    case allowMDNS = """
        Let mDNS through: sudo ufw allow 5353/udp, sudo firewall-cmd --add-service=mdns, or a rule of yours \
        that accepts UDP port 5353
        """
    case asRoot = "Have the rules looked at as root: sudo pairtool doctor"
    case installFirewallTool = "Install what lists the rules: sudo apt install nftables"
    case findFilter = "Let the firewall of this machine pass UDP port 5353; what finds the rule: sudo pairtool doctor"
    case passMulticast = """
        See that the network passes multicast (guest networks and Wi-Fi isolation do not), or name the host \
        by its address: pairtool pair --url http://ADDRESS:7878
        """
    case advertise = """
        Start the host with pairtool host --lan; deployed Macs do not advertise themselves, name them by \
        address: pairtool pair --url http://ADDRESS:7878
        """
    case resolve = "Ask the host itself: pairtool discover --probe"
    case shortType = """
        Update the host; where it is not seen, name it by its address: pairtool pair --url \
        http://ADDRESS:7878
        """
    case reach = "See that {HOST} is on and in this network: pairtool discover --probe"
    case reachDaemon = """
        See that the daemon runs and that its address, or the tunnel to it, leads there: pairtool approvals health --host \
        '{HOST}'
        """
    case lookAfter = "Look after it at {HOST} itself, then: pairtool status --host '{HOST}'"
    case startAssistant = "Install or start the assistant's program on {HOST}."
    case follow = "Let a command find it there: pairtool status --host '{HOST}'"
    case findPort = "Another program has that port; find the host's: pairtool discover --probe"
    case checkKey = "Check at {HOST} whether it was set up anew; if it was: pairtool pair. If not, do not go on."
    case update = "Update pairtool or the app on {HOST}."
    case prove = "Pair again, with proof this time: pairtool pair"
    case signIn = "Sign in to Copilot in the app on {HOST}."
    case pair = "Pair with a host: pairtool pair"
    case pairAgain = "Pair this device again: pairtool pair"
    case newToken = "Look up the token at {HOST}, then pair again: pairtool pair --family aicli --url {URL}"
    case newCode = "Have {HOST} show a new code, then: pairtool pair"
    case setClocks = "Set both clocks by the network: timedatectl set-ntp true"
    case protectFile = "If nobody else has used it: chmod 600 '{FILE}'; otherwise move it away and pair again."
    case protectDirectory = "Close it to others: chmod 700 '{DIRECTORY}'"
    case ownFile = "Check who put it there, then: sudo chown $(id -u) '{FILE}'"
    case replaceFile = "Restore it from a backup, or move it away and pair again: mv '{FILE}' '{FILE}.damaged'"
    case moveAway = "Move it away, it is begun anew: mv '{FILE}' '{FILE}.damaged'"
    case setKeys = "Move it away and set the keys anew with pairtool keys set: mv '{FILE}' '{FILE}.damaged'"
    case pullAgain = "Pull it anew: pairtool sync"
    case usePicture = "Read the code from a picture: pairtool pair --qr FILE"
    case joinGroup = "Join the group, then log in again: sudo usermod -aG {GROUP} $USER"
    case trustPictures = "Scan pictures that you trust, or use a kernel with Landlock (Linux 5.13 or newer)."
    case makeRoom = "Make room on the disk of {DIRECTORY}."
    case makeWritable = "Make it writable for you: ls -ld '{DIRECTORY}'"
    case runAgain = "Run it again; PAIRTOOL_LOG=debug pairtool doctor tells more."

    /// The sentence with its blanks filled in.
    func text(_ values: [String: String]) -> String {
        var text = ""
        var rest = rawValue[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            text += rest[..<open]
            let name = String(rest[rest.index(after: open)..<close])
            text += values[name] ?? name
            rest = rest[rest.index(after: close)...]
        }
        return text + rest
    }
}
