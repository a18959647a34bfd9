import CAvahi

// Avahi calls these on its own thread with its loop lock held. They are functions of the file, not closures, because
// a closure would inherit an isolation that does not hold there.

func daemonClientStateChanged(
    _ client: OpaquePointer?,
    _ state: AvahiClientState,
    _ context: UnsafeMutableRawPointer?
) {
    guard let sink = EngineSink.from(context) else { return }
    switch state {
    case AVAHI_CLIENT_S_RUNNING:
        sink.send(.ready)
    case AVAHI_CLIENT_S_REGISTERING:
        sink.send(.registering)
    case AVAHI_CLIENT_S_COLLISION:
        sink.send(.hostNameCollision)
    case AVAHI_CLIENT_FAILURE:
        // A daemon that dies tells the client alone: browsers, resolvers and groups just fall silent.
        sink.send(.lost(.avahi(failureNumber(of: client), .engineLost, "the Avahi daemon is gone")))
    default:
        break
    }
}

func daemonServiceBrowsed(
    _ browser: OpaquePointer?,
    _ interface: AvahiIfIndex,
    _ transport: AvahiProtocol,
    _ event: AvahiBrowserEvent,
    _ name: UnsafePointer<CChar>?,
    _ type: UnsafePointer<CChar>?,
    _ domain: UnsafePointer<CChar>?,
    _ flags: AvahiLookupResultFlags,
    _ pointer: UnsafeMutableRawPointer?
) {
    guard let context = BrowserContext.from(pointer) else { return }
    context.browsed(event, interface, transport, name, domain) {
        failureNumber(of: avahi_service_browser_get_client(browser))
    }
}

func daemonServiceResolved(
    _ resolver: OpaquePointer?,
    _ interface: AvahiIfIndex,
    _ transport: AvahiProtocol,
    _ event: AvahiResolverEvent,
    _ name: UnsafePointer<CChar>?,
    _ type: UnsafePointer<CChar>?,
    _ domain: UnsafePointer<CChar>?,
    _ hostName: UnsafePointer<CChar>?,
    _ address: UnsafePointer<AvahiAddress>?,
    _ port: UInt16,
    _ txt: UnsafeMutablePointer<AvahiStringList>?,
    _ flags: AvahiLookupResultFlags,
    _ pointer: UnsafeMutableRawPointer?
) {
    ResolverContext.from(pointer)?.resolved(
        event,
        interface,
        hostName,
        address,
        port,
        TXTRecord(txt, isReversed: false)
    )
}

func daemonGroupStateChanged(
    _ group: OpaquePointer?,
    _ state: AvahiEntryGroupState,
    _ context: UnsafeMutableRawPointer?
) {
    EngineSink.from(context)?.groupChanged(state) {
        failureNumber(of: avahi_entry_group_get_client(group))
    }
}

private func failureNumber(of client: OpaquePointer?) -> Int32 {
    client.map { avahi_client_errno($0) } ?? Int32(AVAHI_ERR_FAILURE)
}
