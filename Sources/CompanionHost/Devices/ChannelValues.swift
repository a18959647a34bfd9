import NIOConcurrencyHelpers
import NIOCore

/// A value for each of some connections, until it has closed.
final class ChannelValues<Value: Sendable>: Sendable {
    private let entries = NIOLockedValueBox<[ObjectIdentifier: (channel: any Channel, value: Value)]>([:])

    func value(of channel: any Channel) -> Value? {
        entries.withLockedValue { $0[ObjectIdentifier(channel)]?.value }
    }

    /// The open connections with such a value.
    func channels(where isWanted: (Value) -> Bool) -> [any Channel] {
        entries.withLockedValue { Array($0.values) }.filter { isWanted($0.value) }.map(\.channel)
    }

    /// Notes a value in place of an earlier one. It is forgotten at once where the connection has closed already.
    func set(_ value: Value, of channel: any Channel) {
        let key = ObjectIdentifier(channel)
        let isNew = entries.withLockedValue { $0.updateValue((channel, value), forKey: key) == nil }
        guard isNew else { return }
        channel.closeFuture.whenComplete { [entries] _ in entries.withLockedValue { $0[key] = nil } }
    }
}
