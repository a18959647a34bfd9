import CAvahi
import CAvahiCore

extension EmbeddedEngine {
    func publish(_ services: [Advertisement.Service], name: String) throws(DiscoveryError) {
        let connection = try connected()
        let avahi = connection.avahi
        // Avahi leaves open what a failed call has added: then the next attempt starts with a new group.
        self.connection?.group = nil
        self.connection?.group = try connection.loop.locked { () throws(DiscoveryError) in
            // A group that is there is used again: a new one would defeat mDNS's limits on traffic.
            if let group = connection.group { avahi.avahi_s_entry_group_reset(group) }
            guard
                let group = connection.group
                    ?? avahi.avahi_s_entry_group_new(
                        connection.server,
                        embeddedGroupStateChanged,
                        connection.sink.context
                    )
            else {
                throw .avahi(avahi.avahi_server_errno(connection.server), .publishFailed, "cannot publish")
            }
            do throws(DiscoveryError) {
                for service in services { try Self.add(service, name: name, to: group, connection.server, avahi) }
                try check(avahi.avahi_s_entry_group_commit(group), .publishFailed, "cannot publish")
            } catch {
                avahi.avahi_s_entry_group_free(group)
                throw error
            }
            return group
        }
    }

    private static func add(
        _ service: Advertisement.Service,
        name: String,
        to group: OpaquePointer,
        _ server: OpaquePointer,
        _ avahi: AvahiCoreFunctions
    ) throws(DiscoveryError) {
        let status = withStringList(service.txt) { txt in
            avahi.avahi_server_add_service_strlst(
                server,
                group,
                // The server itself knows no interface but those that it was allowed.
                AvahiConstant.anyInterface,
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
        connection.loop.locked { connection.avahi.avahi_s_entry_group_reset(group) }
    }

    func renameHost() {
        guard let connection else { return }
        connection.loop.locked {
            let taken = connection.avahi.avahi_server_get_host_name(connection.server)
            guard let name = AvahiAlternative.hostName(after: taken) else { return }
            _ = connection.avahi.avahi_server_set_host_name(connection.server, name)
        }
    }
}
