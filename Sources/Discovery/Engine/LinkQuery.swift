import CAvahi
import CompanionWire

/// Asks hosts for the records of their instances directly, without the engine: Avahi does not tell who sent a record,
/// and the sender's address is the only one that some hosts give.
///
/// The query leaves from a port of its own, so that a host answers to it alone and with everything (RFC 6762, sections
/// 5.1 and 6.7); some hosts multicast their answer all the same, which is heard too.
///
/// Made on Avahi's thread or before the loop is started; used with the loop lock held; closed when the loop has
/// stopped.
final class LinkQuery {
    /// The most packets to read at once, so that a flood cannot block the loop.
    private static let batch = 64

    private let link: ServiceInstance.Link
    private let zone: String
    private let sink: EngineSink
    private let api: UnsafePointer<AvahiPoll>
    private let sender: LinkSocket
    private let listener: LinkSocket?
    private var watches: [OpaquePointer] = []
    private var asked: [DNSName: ServiceInstance] = [:]
    /// The records that were multicast since listening began, if ``keepsWhatItHears``.
    private var overheard = DNSResponse()
    var keepsWhatItHears = false
    /// As many hosts as the embedded engine's cache holds.
    private static let limit = 16_384

    /// - Returns: nil where the network refuses it.
    init?(_ link: ServiceInstance.Link, sink: EngineSink, api: UnsafePointer<AvahiPoll>) {
        guard let sender = LinkSocket(link, listens: false) else { return nil }
        self.link = link
        self.sender = sender
        self.sink = sink
        self.api = api
        zone = interfaceName(link.index)
        listener = LinkSocket(link, listens: true)
        for socket in [sender, listener].compactMap({ $0 }) {
            let context = Unmanaged.passUnretained(self).toOpaque()
            guard let watch = api.pointee.watch_new(api, socket.descriptor, AVAHI_WATCH_IN, linkAnswered, context)
            else {
                continue
            }
            watches.append(watch)
        }
    }

    /// Ends listening. The object must not go before.
    func close() {
        for watch in watches { api.pointee.watch_free(watch) }
        watches = []
    }

    func ask(_ instance: ServiceInstance) {
        let name = DNSName(instance)
        guard let wire = name.wire else { return }
        asked[name.folded] = instance
        // Two questions, SRV (33) and TXT (16), of class IN.
        sender.send([0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0] + wire + [0, 33, 0, 1] + wire + [0, 16, 0, 1])
    }

    /// Resolves an instance from the records that were overheard; nil unless the SRV, TXT and address records were.
    func overheard(_ instance: ServiceInstance) -> ServiceResolution? {
        let name = DNSName(instance).folded
        guard overheard.texts[name] != nil, let service = overheard.services[name],
            let answer = resolution(service, of: name, in: overheard, from: nil)
        else { return nil }
        return answer
    }

    /// Runs on Avahi's thread.
    fileprivate func read(_ descriptor: Int32) {
        guard let socket = [sender, listener].compactMap({ $0 }).first(where: { $0.descriptor == descriptor }) else {
            return
        }
        for _ in 0..<Self.batch {
            guard let (packet, sender) = socket.receive(zone: zone) else { return }
            guard !asked.isEmpty || keepsWhatItHears, let response = DNSResponse(packet) else { continue }
            if keepsWhatItHears, socket === listener { overheard.learn(response, limit: Self.limit) }
            for (name, service) in response.services {
                guard let instance = asked[name], let answer = resolution(service, of: name, in: response, from: sender)
                else {
                    continue
                }
                asked[name] = nil
                sink.send(.answered(instance, answer))
            }
        }
    }

    /// The address record that came along, else the address of the sender.
    private func resolution(
        _ service: DNSResponse.Service,
        of name: DNSName,
        in response: DNSResponse,
        from sender: IPAddress?
    ) -> ServiceResolution? {
        guard service.port > 0 else { return nil }
        let size = link.transport == .ipv4 ? 4 : 16
        let given = response.addresses[service.target.folded, default: []]
            .filter { $0.count == size }
            .compactMap { IPAddress(bytes: $0, zone: zone) }
            .min()
        guard let address = given ?? sender else { return nil }
        return ServiceResolution(
            endpoint: CompanionEndpoint(address: address, port: service.port),
            interface: zone,
            hostName: service.target.text,
            txt: TXTRecord(strings: response.texts[name] ?? []),
            isSenderAddress: given == nil
        )
    }
}

private func linkAnswered(
    _ watch: OpaquePointer?,
    descriptor: Int32,
    event: AvahiWatchEvent,
    pointer: UnsafeMutableRawPointer?
) {
    guard let pointer else { return }
    Unmanaged<LinkQuery>.fromOpaque(pointer).takeUnretainedValue().read(descriptor)
}
