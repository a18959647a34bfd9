import CAvahi
import CAvahiCore

// What the callbacks of both engines have in common. All of it runs on Avahi's thread.

extension BrowserContext {
    func browsed(
        _ event: AvahiBrowserEvent,
        interface: AvahiIfIndex,
        transport: AvahiProtocol,
        name: UnsafePointer<CChar>?,
        domain: UnsafePointer<CChar>?,
        failure: () -> Int32
    ) {
        switch event {
        case AVAHI_BROWSER_NEW, AVAHI_BROWSER_REMOVE:
            guard
                let instance = ServiceInstance(
                    interface: interface,
                    transport: transport,
                    name: name,
                    type: type,
                    domain: domain
                )
            else { return }
            sink.send(event == AVAHI_BROWSER_NEW ? .found(instance) : .left(instance))
        case AVAHI_BROWSER_ALL_FOR_NOW:
            sink.send(.allForNow(type))
        case AVAHI_BROWSER_FAILURE:
            let number = failure()
            // A DNS server that knows no service of the type has said all that there is.
            guard number != AvahiConstant.noSuchName else { return sink.send(.allForNow(type)) }
            // A browser that failed reports nothing more: only a new connection helps.
            let error = DiscoveryError.avahi(number, code: .browseFailed, message: "browsing \(type) failed")
            sink.send(.lost(error))
        default:
            // CACHE_EXHAUSTED: answers from the network may be about to come; ALL_FOR_NOW follows.
            break
        }
    }
}

extension ResolverContext {
    func resolved(
        _ event: AvahiResolverEvent,
        interface: AvahiIfIndex,
        hostName: UnsafePointer<CChar>?,
        address: UnsafePointer<AvahiAddress>?,
        port: UInt16,
        txt: TXTRecord
    ) {
        guard event == AVAHI_RESOLVER_FOUND, port > 0 else {
            sink.send(.resolveFailed(instance, event == AVAHI_RESOLVER_FOUND ? .portZero : .noAddress))
            return
        }
        guard
            let resolution = ServiceResolution(
                interface: interface,
                hostName: hostName,
                address: address,
                port: port,
                txt: txt
            )
        else {
            sink.send(.resolveFailed(instance))
            return
        }
        sink.send(.resolved(instance, resolution))
    }
}

extension EngineSink {
    func groupChanged(_ state: AvahiEntryGroupState, failure: () -> Int32) {
        switch state {
        case AVAHI_ENTRY_GROUP_ESTABLISHED:
            send(.published)
        case AVAHI_ENTRY_GROUP_COLLISION:
            send(.nameCollision)
        case AVAHI_ENTRY_GROUP_FAILURE:
            send(.publishFailed(.avahi(failure(), code: .publishFailed, message: "publishing failed")))
        default:
            break
        }
    }
}
