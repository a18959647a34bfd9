import CompanionWire
import FoundationEssentials
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOWebSocket
import ServiceLifecycle

/// Serves one live connection: frames out, signs of life both ways, and an end with a code that says why.
/// (RFC 6455; companion-v2, Streams)
struct LiveSocket: Sendable {
    typealias Channel = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

    /// Bytes that a frame of a client may have: it has nothing to say but control frames.
    static let maximumFrameSize = 4 << 10
    /// Seconds between two pings. A client that has shown no sign of life since two of them is gone, after three
    /// intervals at the earliest: until the first ping it has nothing to answer.
    static let pingInterval: Double = 20

    /// Why a connection ends.
    enum Ending: Sendable, Equatable {
        /// The client closed it, with this code.
        case closed(WebSocketErrorCode)
        case gone
        case tooSlow
        case revoked
        case deviceExpired
        case sessionOver
        case shutdown
        case unexpectedData
        case unmasked

        /// The code and the reason of the close frame (RFC 6455, section 7.4.1); nil for a client that is gone.
        var close: (code: WebSocketErrorCode, reason: String)? {
            switch self {
            case .closed(let code): (code, "")
            case .gone: nil
            // 1013, “try again later”, of the registry that the section sets up.
            case .tooSlow: (.unknown(1013), "too slow")
            case .revoked: (.policyViolation, CompanionErrorCode.deviceRevoked.rawValue)
            case .deviceExpired: (.policyViolation, CompanionErrorCode.deviceExpired.rawValue)
            case .sessionOver: (.policyViolation, CompanionErrorCode.sessionExpired.rawValue)
            case .shutdown: (.goingAway, "the host is shutting down")
            case .unexpectedData: (.unacceptableData, "this connection is for the host's events")
            case .unmasked: (.protocolError, "frames of a client are masked")
            }
        }
    }

    let events: LiveEventBroadcaster
    let revocations: RevocationCenter
    let clock: HostClock
    let hostID: String

    /// Serves until one side ends it.
    func serve(_ channel: Channel, device: AuthenticatedDevice, logger: Logger) async {
        do {
            try await channel.executeThenClose { inbound, outbound in
                let ending = await run(inbound, outbound: outbound, device: device)
                await close(channel.channel, ending: ending)
                // A reader that does not read must not hold up the end: what is not sent by now is given up.
                channel.channel.close(promise: nil)
            }
        } catch {
            logger.debug("live connection ended", metadata: ["reason": "\(error)"])
        }
    }

    private func run(
        _ inbound: NIOAsyncChannelInboundStream<WebSocketFrame>,
        outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>,
        device: AuthenticatedDevice
    ) async -> Ending {
        let (id, frames) = events.subscribe()
        defer { events.end(id) }
        let signs = NIOLockedValueBox(0)
        return await withTaskGroup(of: Ending.self) { group in
            group.addTask { await send(frames, to: outbound) }
            group.addTask { await receive(inbound, outbound: outbound, signs: signs) }
            group.addTask { await ping(outbound, signs: signs) }
            group.addTask {
                switch await revocations.wait(for: device) {
                case .deviceExpired: return .deviceExpired
                case .sessionOver: return .sessionOver
                case .ended, nil: return .revoked
                }
            }
            group.addTask {
                try? await gracefulShutdown()
                return .shutdown
            }
            let ending = await group.next() ?? .gone
            group.cancelAll()
            return ending
        }
    }

    private func send(
        _ frames: AsyncStream<ByteBuffer>,
        to outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>
    ) async -> Ending {
        do {
            if let hello = LiveEventBroadcaster.encode(LiveEvent(.hello, at: clock.now(), hostId: hostID)) {
                try await outbound.write(WebSocketFrame(fin: true, opcode: .text, data: hello))
            }
            for await frame in frames {
                try await outbound.write(WebSocketFrame(fin: true, opcode: .text, data: frame))
            }
            return events.isFinished ? .shutdown : .tooSlow
        } catch {
            return .gone
        }
    }

    private func receive(
        _ inbound: NIOAsyncChannelInboundStream<WebSocketFrame>,
        outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>,
        signs: NIOLockedValueBox<Int>
    ) async -> Ending {
        do {
            for try await frame in inbound {
                signs.withLockedValue { $0 += 1 }
                guard frame.maskKey != nil || frame.length == 0 else { return .unmasked }
                switch frame.opcode {
                case .connectionClose:
                    var data = frame.unmaskedData
                    return .closed(data.readWebSocketErrorCode() ?? .normalClosure)
                case .ping: try await outbound.write(WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData))
                case .pong: break
                default: return .unexpectedData
                }
            }
        } catch {}
        return .gone
    }

    private func ping(
        _ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>,
        signs: NIOLockedValueBox<Int>
    ) async -> Ending {
        // Unknown until the client was asked for the first time.
        var seen: Int?
        var silent = 0
        while true {
            let next = clock.now().addingTimeInterval(Self.pingInterval)
            guard (try? await clock.sleepUntil(next)) != nil else { return .gone }
            let now = signs.withLockedValue { $0 }
            silent = now == seen ? silent + 1 : 0
            seen = now
            guard silent < 2 else { return .gone }
            let frame = WebSocketFrame(fin: true, opcode: .ping, data: ByteBuffer())
            guard (try? await outbound.write(frame)) != nil else { return .gone }
        }
    }

    /// Sends the close frame, as far as the client takes it.
    private func close(_ channel: any NIOCore.Channel, ending: Ending) async {
        guard let (code, reason) = ending.close else { return }
        var data = channel.allocator.buffer(capacity: 2 + reason.utf8.count)
        data.write(webSocketErrorCode: code)
        data.writeString(reason)
        channel.writeAndFlush(WebSocketFrame(fin: true, opcode: .connectionClose, data: data), promise: nil)
    }
}
