import CAvahi
import CAvahiCore

// Avahi calls these on its own thread with its loop lock held, and `embeddedServerStateChanged` also from within
// `avahi_server_new`. They are functions of the file, not closures, because a closure would inherit an isolation that
// does not hold there.

func embeddedServerStateChanged(
    _ server: OpaquePointer?,
    state: AvahiServerState,
    context: UnsafeMutableRawPointer?
) {
    guard let sink = EngineSink.from(context) else { return }
    switch state {
    case AVAHI_SERVER_RUNNING:
        sink.send(.ready)
    case AVAHI_SERVER_REGISTERING:
        sink.send(.registering)
    case AVAHI_SERVER_COLLISION:
        sink.send(.hostNameCollision)
    case AVAHI_SERVER_FAILURE:
        sink.send(
            .lost(.avahi(failureNumber(of: server), code: .engineLost, message: "the embedded mDNS engine failed"))
        )
    default:
        break
    }
}

func embeddedServiceBrowsed(
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
    guard let timer = SettleTimer.from(pointer) else { return }
    guard event != AVAHI_BROWSER_ALL_FOR_NOW else { return timer.start() }
    // Avahi-core has no way from a browser to its server, so the error number is not available here.
    timer.context.browsed(event, interface: interface, transport: transport, name: name, domain: domain) {
        Int32(AVAHI_ERR_FAILURE)
    }
}

func embeddedServiceResolved(
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
        txt: TXTRecord(txt, isReversed: true)
    )
}

func embeddedGroupStateChanged(
    _ server: OpaquePointer?,
    group: OpaquePointer?,
    state: AvahiEntryGroupState,
    context: UnsafeMutableRawPointer?
) {
    EngineSink.from(context)?.groupChanged(state) { failureNumber(of: server) }
}

/// Asks the library, which is loaded whenever it calls back.
private func failureNumber(of server: OpaquePointer?) -> Int32 {
    guard let server, let avahi = try? AvahiCore.functions() else { return Int32(AVAHI_ERR_FAILURE) }
    return avahi.avahi_server_errno(server)
}
