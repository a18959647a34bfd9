import CAvahi

extension DaemonEngine {
    func publish(_ services: [Advertisement.Service], name: String) throws(DiscoveryError) {
        let (connection, interface) = try connected()
        // What was added before a failure must not stay: then the next attempt starts with a new group.
        self.connection?.group = nil
        self.connection?.group = try connection.loop.locked { () throws(DiscoveryError) in
            // A group that is there is used again: a new one would defeat mDNS's limits on traffic.
            if let group = connection.group { _ = avahi_entry_group_reset(group) }
            guard
                let group = connection.group
                    ?? avahi_entry_group_new(connection.client, daemonGroupStateChanged, connection.sink.context)
            else {
                throw .avahi(avahi_client_errno(connection.client), .publishFailed, "cannot publish")
            }
            do throws(DiscoveryError) {
                for service in services { try Self.add(service, name: name, to: group, interface) }
                try check(avahi_entry_group_commit(group), .publishFailed, "cannot publish")
            } catch {
                _ = avahi_entry_group_free(group)
                throw error
            }
            return group
        }
    }

    private static func add(
        _ service: Advertisement.Service,
        name: String,
        to group: OpaquePointer,
        _ interface: AvahiIfIndex
    ) throws(DiscoveryError) {
        let status = withStringList(service.txt) { txt in
            avahi_entry_group_add_service_strlst(
                group,
                interface,
                AvahiConstant.anyProtocol,
                AvahiConstant.noPublishFlags,
                name,
                service.type.rawValue,
                nil,
                nil,
                UInt16(service.port),
                txt
            )
        }
        try check(status, .publishFailed, "cannot publish \(service.type)")
    }

    func withdraw() {
        guard let connection, let group = connection.group else { return }
        connection.loop.locked { _ = avahi_entry_group_reset(group) }
    }

    /// The daemon chooses its host names itself.
    func renameHost() {}
}
