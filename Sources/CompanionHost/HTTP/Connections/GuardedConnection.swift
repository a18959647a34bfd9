import CompanionWire
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import NIOSSL

/// The handlers of a connection that was let in. Belongs to the connection's event loop.
struct GuardedConnection {
    let activity: ConnectionActivity
    let socket: SocketHandler

    /// Lets a connection in, and puts the handlers into its pipeline that watch it.
    ///
    /// - Parameter tls: nil for plain HTTP.
    /// - Throws: When it is not let in; then it is closed.
    init(_ channel: any Channel, gate: ConnectionGate, tls: NIOSSLContext?) throws {
        let peer = IPAddress(peerOf: channel)
        activity = ConnectionActivity(gate: gate, channel: channel, isSecure: tls != nil)
        socket = SocketHandler(gate: gate, peer: peer, isSecure: tls != nil)
        let plaintext = PlaintextHandler(activity: activity, socket: socket)
        let bound = NIOLoopBound(plaintext, eventLoop: channel.eventLoop)
        let eventLoop = channel.eventLoop
        let isOpen = gate.open(channel, isSecure: tls != nil) { ending in
            eventLoop.execute { bound.value.end(ending) }
        }
        guard isOpen else {
            channel.close(promise: nil)
            throw ChannelError.operationUnsupported
        }
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(socket)
        if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
        try pipeline.addHandler(plaintext)
    }

    /// The last handlers of a connection that speaks HTTP, behind NIO's own.
    func http(
        _ channel: any Channel,
        isSecure: Bool,
        idleTimeout: TimeAmount?,
        logger: Logger
    ) throws -> HTTP1Channel.Value {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(RequestsHandler(activity: activity, socket: socket))
        try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: isSecure))
        try pipeline.addHandler(HTTPConnectionStateHandler(idleTimeout: idleTimeout.map { .init($0) }, logger: logger))
        return try NIOAsyncChannel(
            wrappingChannelSynchronously: channel,
            configuration: .init(isOutboundHalfClosureEnabled: true)
        )
    }
}

extension HTTP1Channel.Configuration {
    /// NIO's decoder of requests, with these limits.
    func decoder(leftOver strategy: RemoveAfterUpgradeStrategy) -> ByteToMessageHandler<HTTPRequestDecoder> {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = httpDecoder.maxHeaderFieldSize
        limits.maxHeaderListSize = httpDecoder.maxHeaderListSize
        limits.maxHeaderFieldCount = httpDecoder.maxHeaderFieldCount
        return ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: strategy, limitConfiguration: limits))
    }
}

/// Plain HTTP/1.1.
struct PlainChannel: HTTPChannelHandler {
    typealias Value = HTTP1Channel.Value

    let responder: HTTPChannelHandler.Responder
    let gate: ConnectionGate
    let configuration: HTTP1Channel.Configuration

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let connection = try GuardedConnection(channel, gate: gate, tls: nil)
            let decoder = configuration.decoder(leftOver: .dropBytes)
            try channel.pipeline.syncOperations.addHandlers([HTTPResponseEncoder(), decoder])
            return try connection.http(
                channel,
                isSecure: false,
                idleTimeout: configuration.idleTimeout,
                logger: logger
            )
        }
    }

    func handle(value: Value, logger: Logger) async {
        await handleHTTP(asyncChannel: value, logger: logger)
    }
}
