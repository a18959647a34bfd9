/// Takes the events of Avahi's callbacks.
///
/// Callbacks run on Avahi's own thread with its loop lock held: they copy what they are given into an event, send it,
/// and return. `send` never calls the consumer, so nothing can take the loop lock again from there.
final class EngineSink: Sendable {
    let events = EngineEvents()

    func send(_ event: EngineEvent) {
        events.send(event)
    }

    /// Ends the events. Not to be called on Avahi's thread.
    func finish() {
        events.finish()
    }

    /// The pointer that C callbacks get. It is valid as long as the sink lives.
    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static func from(_ context: UnsafeMutableRawPointer?) -> EngineSink? {
        context.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }
}

/// The context of a browser's callback: the type as it was asked for.
final class BrowserContext: Sendable {
    let sink: EngineSink
    let type: ServiceType

    init(sink: EngineSink, type: ServiceType) {
        self.sink = sink
        self.type = type
    }

    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static func from(_ pointer: UnsafeMutableRawPointer?) -> BrowserContext? {
        pointer.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }
}

/// The resolvers of a connection. An object, because a connection is a value that is copied, and they are many.
final class Resolvers {
    var all: [ServiceInstance: (pointer: OpaquePointer, context: ResolverContext)] = [:]
}

/// The context of a resolver's callback: the instance as it was found, byte for byte.
final class ResolverContext: Sendable {
    let sink: EngineSink
    let instance: ServiceInstance

    init(sink: EngineSink, instance: ServiceInstance) {
        self.sink = sink
        self.instance = instance
    }

    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static func from(_ pointer: UnsafeMutableRawPointer?) -> ResolverContext? {
        pointer.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }
}
