import CAvahi
import CAvahiCore

/// libavahi-core, which does mDNS in this process.
struct EmbeddedLibrary: AvahiLibrary {
    let avahi: AvahiCoreFunctions

    func errorNumber(of server: OpaquePointer) -> Int32 {
        avahi.avahi_server_errno(server)
    }

    func newResolver(
        of server: OpaquePointer,
        for instance: ServiceInstance,
        name: UnsafePointer<CChar>,
        context: UnsafeMutableRawPointer
    ) -> OpaquePointer? {
        avahi.avahi_s_service_resolver_new(
            server,
            instance.interfaceIndex,
            instance.avahiProtocol,
            name,
            instance.type.rawValue,
            instance.domain,
            instance.avahiProtocol,
            AvahiConstant.noLookupFlags,
            embeddedServiceResolved,
            context
        )
    }

    func freeResolver(_ resolver: OpaquePointer) {
        avahi.avahi_s_service_resolver_free(resolver)
    }

    func newGroup(of server: OpaquePointer, context: UnsafeMutableRawPointer) -> OpaquePointer? {
        avahi.avahi_s_entry_group_new(server, embeddedGroupStateChanged, context)
    }

    func add(
        _ service: Advertisement.Service,
        name: String,
        txt: UnsafeMutablePointer<AvahiStringList>?,
        to group: OpaquePointer,
        of server: OpaquePointer,
        on interface: AvahiIfIndex
    ) -> Int32 {
        avahi.avahi_server_add_service_strlst(
            server,
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
        avahi.avahi_s_entry_group_commit(group)
    }

    func resetGroup(_ group: OpaquePointer) {
        avahi.avahi_s_entry_group_reset(group)
    }

    func freeGroup(_ group: OpaquePointer) {
        avahi.avahi_s_entry_group_free(group)
    }
}
