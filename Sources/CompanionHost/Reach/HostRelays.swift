import CompanionWire
import FoundationEssentials
import LocalState
import Logging
import NIOConcurrencyHelpers
import NIOCore
import Relay

/// The relays that a host joins, and the connections that come by them. They are served as if they had been accepted by
/// the host's own listener for HTTPS.
final class HostRelays: Sendable {
    /// Adds the handlers of a connection, and returns what serves it to its end.
    typealias Serve = @Sendable (any Channel) -> EventLoopFuture<@Sendable () async -> Void>

    /// The name of the file with the host's certificate for relays, beside the host's own key.
    static let fileName = "relay.pem"

    private struct State {
        var admission = RelayAdmission()
        var states: [RelayAddress: AdminRelay] = [:]
    }

    let addresses: [RelayAddress]
    /// nil for a host that joins none.
    let identity: RelayIdentity?
    private let devices: CompanionDeviceStore
    private let clock: HostClock
    private let logger: Logger
    private let state = NIOLockedValueBox(State())
    /// The connections, each with its caller.
    private let connections = ChannelValues<RelayID>()

    /// - Parameter directory: Has, or gets, the host's certificate for relays.
    /// - Throws: ``CompanionHostError/Code/keyUnusable``.
    init(
        addresses: [RelayAddress],
        directory: String,
        devices: CompanionDeviceStore,
        clock: HostClock,
        logger: Logger
    ) throws(CompanionHostError) {
        self.addresses = addresses
        identity = addresses.isEmpty ? nil : try Self.identity(in: directory)
        self.devices = devices
        (self.clock, self.logger) = (clock, logger)
    }

    private static func identity(in directory: String) throws(CompanionHostError) -> RelayIdentity {
        do {
            return try RelayIdentityFile(path: "\(directory)/\(fileName)").identity()
        } catch {
            throw CompanionHostError(.keyUnusable, "\(error).", underlying: error)
        }
    }

    /// How each relay is.
    var report: [AdminRelay] {
        let states = state.withLockedValue(\.states)
        return addresses.map { states[$0] ?? AdminRelay(address: $0, state: .connecting) }
    }

    /// Joins the relays and serves what comes, until the task is cancelled.
    ///
    /// - Parameter isPairing: Whether somebody may pair now.
    func run(isPairing: @escaping @Sendable () async -> Bool, serve: @escaping Serve) async {
        guard let identity else { return }
        await withDiscardingTaskGroup { group in
            for address in addresses {
                let client = RelayClient(address: address, identity: identity, logger: logger)
                let (invitations, invite) = AsyncStream.makeStream(
                    of: RelayInvitation.self,
                    bufferingPolicy: .bufferingOldest(64)
                )
                group.addTask {
                    await client.join { state in
                        self.record(state, of: address)
                    } onInvitation: {
                        invite.yield($0)
                    }
                    invite.finish()
                }
                group.addTask {
                    await withDiscardingTaskGroup { calls in
                        for await invitation in invitations {
                            calls.addTask {
                                await self.take(invitation, over: client, isPairing: isPairing, serve: serve)
                            }
                        }
                    }
                }
            }
        }
    }

    private func record(_ joining: RelayJoinState, of address: RelayAddress) {
        let row: AdminRelay
        switch joining {
        case .connecting: row = AdminRelay(address: address, state: .connecting)
        case .joined(let since): row = AdminRelay(address: address, state: .joined, since: since)
        case .failed(let error, _): row = AdminRelay(address: address, state: .failed, failure: error.message)
        }
        let old = state.withLockedValue { state in
            // The reason stays while another try is under way.
            if row.state == .connecting, state.states[address]?.state == .failed { return row.state }
            defer { state.states[address] = row }
            return state.states[address]?.state ?? .connecting
        }
        guard old != row.state else { return }
        logger.notice(
            "relay",
            metadata: .event("host", outcome: row.state.rawValue, ["relay": "\(address.authority)"])
        )
    }
}

// MARK: Calls

extension HostRelays {
    private func take(
        _ invitation: RelayInvitation,
        over client: RelayClient,
        isPairing: @Sendable () async -> Bool,
        serve: @escaping Serve
    ) async {
        let id = invitation.from
        let isKnown = devices.device(relayID: id) != nil
        let mayPair = isKnown ? false : await isPairing()
        let now = clock.now()
        let refusal = state.withLockedValue { state in
            state.admission.admit(id, isKnown: isKnown, isPairing: mayPair, now: now)
        }
        guard refusal == nil else {
            logger.info("relay", metadata: .event("host", outcome: "refused", ["reason": "\(refusal?.rawValue ?? "")"]))
            return
        }
        defer { state.withLockedValue { $0.admission.end(id, wasKnown: isKnown) } }
        let counter = ByteCounter()
        do {
            let work = try await client.answer(invitation) { channel in
                RelayPeers.record(id, of: channel)
                self.connections.set(id, of: channel)
                return channel.setOption(.allowRemoteHalfClosure, value: true)
                    .flatMapThrowing { try channel.pipeline.syncOperations.addHandler(counter) }
                    .flatMap { serve(channel) }
                    .flatMap { work in channel.setOption(.autoRead, value: true).map { work } }
            }
            // A device that was revoked meanwhile was not among those whose connections ended.
            if isKnown, devices.device(relayID: id) == nil { end(id) }
            await work()
        } catch {
            logger.debug("a call over a relay failed", metadata: ["reason": "\(error)"])
        }
        await audit(id, relay: client.address, bytes: counter)
    }

    /// Ends the connections of a caller.
    func end(_ id: RelayID) {
        for channel in connections.channels(where: { $0 == id }) { channel.close(promise: nil) }
    }

    /// Notes a connection of a device: when, over which relay, how many bytes.
    private func audit(_ id: RelayID, relay: RelayAddress, bytes: ByteCounter) async {
        guard let device = devices.device(relayID: id) else { return }
        let detail: JSONValue = [
            "via": .string(HostRoute.Rung.relay.rawValue), "relay": .string(relay.authority),
            "received": .integer(Int64(bytes.received)), "sent": .integer(Int64(bytes.sent)),
        ]
        let now = clock.now()
        do {
            try await devices.database.write { database in
                try AuditLog.append(.reached, device: device.id, detail: detail, at: now, in: database)
            }
        } catch {
            logger.error("a connection over a relay is not in the audit", metadata: .failure(error))
        }
    }
}

/// Counts the bytes of a connection.
final class ByteCounter: ChannelDuplexHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private struct Count {
        var received = 0
        var sent = 0
    }

    private let count = NIOLockedValueBox(Count())

    var received: Int { count.withLockedValue(\.received) }
    var sent: Int { count.withLockedValue(\.sent) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let size = unwrapInboundIn(data).readableBytes
        count.withLockedValue { $0.received += size }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let size = unwrapOutboundIn(data).readableBytes
        count.withLockedValue { $0.sent += size }
        context.write(data, promise: promise)
    }
}
