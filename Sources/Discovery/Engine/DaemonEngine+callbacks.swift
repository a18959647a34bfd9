import CAvahi

// Avahi calls these on its own thread with its loop lock held. They are functions of the file, not closures, because
// a closure would inherit an isolation that does not hold there.

func daemonClientStateChanged(
    _ client: OpaquePointer?,
    state: AvahiClientState,
    context: UnsafeMutableRawPointer?
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
        sink.send(.lost(.avahi(failureNumber(of: client), code: .engineLost, message: "the Avahi daemon is gone")))
    default:
        break
    }
}

func daemonServiceBrowsed(
    _ browser: OpaquePointer?,
    interface: AvahiIfIndex,
    transport: AvahiProtocol,
    event: AvahiBrowserEvent,
    name: UnsafePointer<CChar>?,
    type: UnsafePointer<CChar>?,
    domain: UnsafePointer<CChar>?,
    flags: AvahiLookupResultFlags,
    pointer: UnsafeMutableRawPointer?
) {
    guard let context = BrowserContext.from(pointer) else { return }
    context.browsed(event, interface: interface, transport: transport, name: name, domain: domain) {
        failureNumber(of: avahi_service_browser_get_client(browser))
    }
}

func daemonServiceResolved(
    _ resolver: OpaquePointer?,
    interface: AvahiIfIndex,
    transport: AvahiProtocol,
    event: AvahiResolverEvent,
    name: UnsafePointer<CChar>?,
    type: UnsafePointer<CChar>?,
    domain: UnsafePointer<CChar>?,
    hostName: UnsafePointer<CChar>?,
    address: UnsafePointer<AvahiAddress>?,
    port: UInt16,
    txt: UnsafeMutablePointer<AvahiStringList>?,
    flags: AvahiLookupResultFlags,
    pointer: UnsafeMutableRawPointer?
) {
    ResolverContext.from(pointer)?.resolved(
        event,
        interface: interface,
        hostName: hostName,
        address: address,
        port: port,
        txt: TXTRecord(txt, isReversed: false)
    )
}

func daemonGroupStateChanged(
    _ group: OpaquePointer?,
    state: AvahiEntryGroupState,
    context: UnsafeMutableRawPointer?
) {
    EngineSink.from(context)?.groupChanged(state) {
        failureNumber(of: avahi_entry_group_get_client(group))
    }
}

private func failureNumber(of client: OpaquePointer?) -> Int32 {
    client.map { avahi_client_errno($0) } ?? Int32(AVAHI_ERR_FAILURE)
}
