/// The recommendations of `pairtool doctor`. docs/troubleshooting.md contains each of these sentences.
///
/// Words in braces are placeholders; the document shows them without the braces.
package enum Advice: String, Sendable, CaseIterable {
    case installDaemon = "Not needed, unless other programs use it: sudo apt install avahi-daemon"
    case restartBus = "Restart the system bus and the daemon: sudo systemctl restart dbus avahi-daemon"
    case restartDaemon = """
        Restart the daemon and read what it says: sudo systemctl restart avahi-daemon; journalctl -u \
        avahi-daemon
        """
    case renameMachine = "Give this machine a unique name: sudo hostnamectl set-hostname NAME"
    case chooseEngine = "Use the other engine: pairtool discover --engine {ENGINE}"
    case endPortOwner = "End {PROGRAM}, or configure it to share the port: sudo ss -ulpn 'sport = :5353'"
    case oneResponder = """
        Leave mDNS to one program: set MulticastDNS=no in /etc/systemd/resolved.conf, then sudo systemctl \
        restart systemd-resolved
        """
    case connect = "Connect to the host's network: ip address"
    case enableMulticast = "Switch multicast on: sudo ip link set {IF} multicast on"
    case chooseInterface = """
        If hosts show up with addresses that do not work, search only your network: pairtool discover \
        --interface {IF}
        """
    case behindTunnel = """
        mDNS does not cross VPNs or routers: pair with a host behind one by its address: pairtool pair --url \
        http://ADDRESS:7878
        """
    case openUFW = """
        Let mDNS and a host on this machine through: sudo ufw allow 5353/udp && sudo ufw allow 7878:7879/tcp
        """
    case openFirewalld = """
        Let mDNS and a host on this machine through: sudo firewall-cmd --permanent --add-service=mdns \
        --add-port=7878-7879/tcp && sudo firewall-cmd --reload
        """
    case openNFT = """
        Let mDNS and a host on this machine through, with the names of your table and chain: sudo nft 'insert rule \
        inet filter input udp dport 5353 accept; insert rule inet filter input tcp dport 7878-7879 accept'
        """
    case findFilter = """
        Allow UDP port 5353 in this machine's firewall: the firewall line of pairtool doctor has the command
        """
    case passMulticast = """
        Check that the network passes multicast (guest networks and Wi-Fi isolation do not), or name the host \
        by its address: pairtool pair --url http://ADDRESS:7878
        """
    case advertise = """
        Start the host with pairtool host --lan; Macs do not advertise themselves: pair with them by \
        address: pairtool pair --url http://ADDRESS:7878
        """
    case resolve = "Ask the host itself: pairtool discover --probe"
    case shortType = """
        Update the host; where it is not seen, name it by its address: pairtool pair --url \
        http://ADDRESS:7878
        """
    case reach = "Check that {HOST} is on and on this network: pairtool discover --probe"
    case reachDaemon = """
        Check that the daemon is running and that its address, or the tunnel to it, is right: pairtool jarvis health \
        --host '{HOST}'
        """
    case connectVPN = "If it is a name inside a VPN, connect the VPN and run it again: pairtool doctor --host '{HOST}'"
    case checkRoute = "Repair the route, or remove it: pairtool hosts routes remove '{HOST}' '{ROUTE}'"
    case lookAfter = "Fix it on {HOST} itself, then: pairtool status --host '{HOST}'"
    case startAssistant = "Install or start the assistant's program on {HOST}."
    case follow = "Let pairtool find it there: pairtool status --host '{HOST}'"
    case findPort = "Another program has that port; find the host's: pairtool discover --probe"
    case checkKey =
        "Check on {HOST} whether it was set up again. If so: pairtool pair. If not, someone may be intercepting the connection."
    case update = "Update pairtool or the app on {HOST}."
    case updateHost = "Update pairtool on {HOST}, or here if that is the older one."
    case prove = "Pair again as a verified host: pairtool pair"
    case signIn = "Sign in to Copilot in the app on {HOST}."
    case repairAgent = "See at {HOST} what its agent needs: pairtool host status"
    case pair = "Pair with a host: pairtool pair"
    case pairAgain = "Pair this device again: pairtool pair"
    case newToken = "Look up the token at {HOST}, then pair again: pairtool pair --family {FAMILY} --url {URL}"
    case newCode = "Show a new code on {HOST}, then: pairtool pair"
    case setClocks = "Synchronise both clocks with the network: timedatectl set-ntp true"
    case protectFile = "If nobody else has used it: chmod 600 '{FILE}'; otherwise move it away and pair again."
    case protectDirectory = "Make it private: chmod 700 '{DIRECTORY}'"
    case ownFile = "Check who put it there, then: sudo chown $(id -u) '{FILE}'"
    case replaceFile = "Restore it from a backup, or move it away and pair again: mv '{FILE}' '{FILE}.damaged'"
    case moveAway = "Move it away; pairtool makes a new one: mv '{FILE}' '{FILE}.damaged'"
    case setKeys = "Move it away and set the keys again with pairtool lumi keys set: mv '{FILE}' '{FILE}.damaged'"
    case pullAgain = "Pull it again: pairtool lumi sync"
    case usePicture = "Read the code from a picture: pairtool pair --qr FILE"
    case joinGroup = "Join the group, then log in again: sudo usermod -aG {GROUP} $USER"
    case trustPictures = "Scan pictures that you trust, or use a kernel with Landlock (Linux 5.13 or newer)."
    case makeRoom = "Make room on the disk of {DIRECTORY}."
    case makeWritable = "Make it writable for you: ls -ld '{DIRECTORY}'"
    case installSandbox = """
        For a host whose agents run in a box (pairtool host --sandbox): sudo apt install bubblewrap. If it is installed, \
        allow user namespaces: sudo sysctl kernel.unprivileged_userns_clone=1
        """
    case showProcesses = """
        To decide on this machine, let your group see processes: sudo mount -o remount,gid=$(id -g) /proc; a device \
        on another machine can decide anyway
        """
    case runAgain = "Run it again. For more details: PAIRTOOL_LOG=debug pairtool doctor"

    /// The sentence with its placeholders filled in.
    ///
    /// - Parameter values: The values by placeholder, such as `HOST`. A placeholder without a value is replaced by its
    ///   own name.
    package func text(_ values: [String: String]) -> String {
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
