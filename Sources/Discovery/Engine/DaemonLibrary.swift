import CAvahi

/// libavahi-client, which speaks to the machine's daemon.
struct DaemonLibrary: AvahiLibrary {
    func errorNumber(of client: OpaquePointer) -> Int32 {
        avahi_client_errno(client)
    }

    func newResolver(
        of client: OpaquePointer,
        for instance: ServiceInstance,
        name: UnsafePointer<CChar>,
        context: UnsafeMutableRawPointer
    ) -> OpaquePointer? {
        avahi_service_resolver_new(
            client,
            instance.interfaceIndex,
            instance.avahiProtocol,
            name,
            instance.type.rawValue,
            instance.domain,
            instance.avahiProtocol,
            AvahiConstant.noLookupFlags,
            daemonServiceResolved,
            context
        )
    }

    func freeResolver(_ resolver: OpaquePointer) {
        avahi_service_resolver_free(resolver)
    }

    func newGroup(of client: OpaquePointer, context: UnsafeMutableRawPointer) -> OpaquePointer? {
        avahi_entry_group_new(client, daemonGroupStateChanged, context)
    }

    func add(
        _ service: Advertisement.Service,
        name: String,
        txt: UnsafeMutablePointer<AvahiStringList>?,
        to group: OpaquePointer,
        of client: OpaquePointer,
        on interface: AvahiIfIndex
    ) -> Int32 {
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

    func commitGroup(_ group: OpaquePointer) -> Int32 {
        avahi_entry_group_commit(group)
    }

    func resetGroup(_ group: OpaquePointer) {
        avahi_entry_group_reset(group)
    }

    func freeGroup(_ group: OpaquePointer) {
        avahi_entry_group_free(group)
    }
}
