/// A systemd unit that runs a Syncthing relay for one's own hosts.
package struct RelayUnit: Encodable, Sendable {
    /// The text of the unit (systemd.service(5)).
    package let text: String

    /// - Parameters:
    ///   - port: The TCP port, 1…65535.
    ///   - rate: The most that all connections may send together, in MB a second.
    ///   - sessionRate: The most that one connection may send, in MB a second.
    package init(port: Int, rate: Int, sessionRate: Int) {
        // Without `-pools ""` it would announce itself to a public pool; without `-status-srv ""` it tells everybody how
        // many use it.
        let command = [
            "/usr/bin/strelaysrv", "-pools \"\"", "-status-srv \"\"", "-listen :\(port)",
            "-keys /var/lib/pairtool-relay",
            "-global-rate \(rate * 1_000_000)", "-per-session-rate \(sessionRate * 1_000_000)",
        ].joined(separator: " ")
        let rights =
            port < 1024
            ? ["AmbientCapabilities=CAP_NET_BIND_SERVICE", "CapabilityBoundingSet=CAP_NET_BIND_SERVICE"]
            : ["CapabilityBoundingSet="]
        let lines =
            [
                "[Unit]", "Description=Relay between hosts and devices of pairtool", "After=network-online.target",
                "Wants=network-online.target", "", "[Service]", "ExecStart=\(command)", "DynamicUser=yes",
                "StateDirectory=pairtool-relay", "StateDirectoryMode=0700", "Restart=always", "RestartSec=2",
                "LimitNOFILE=65536",
            ] + rights + Self.confinement + ["", "[Install]", "WantedBy=multi-user.target"]
        text = lines.joined(separator: "\n")
    }

    /// A relay needs the network and its own directory.
    private static let confinement = [
        "NoNewPrivileges=yes", "PrivateDevices=yes", "PrivateUsers=no", "ProtectClock=yes", "ProtectControlGroups=yes",
        "ProtectHome=yes", "ProtectHostname=yes", "ProtectKernelLogs=yes", "ProtectKernelModules=yes",
        "ProtectKernelTunables=yes", "ProtectProc=invisible", "ProcSubset=pid", "ProtectSystem=strict",
        "RestrictAddressFamilies=AF_INET AF_INET6", "RestrictNamespaces=yes", "RestrictRealtime=yes",
        "RestrictSUIDSGID=yes", "LockPersonality=yes", "MemoryDenyWriteExecute=yes", "RemoveIPC=yes",
        "SystemCallArchitectures=native", "SystemCallFilter=@system-service",
        "SystemCallFilter=~@privileged @resources",
        "UMask=0077",
    ]
}
