import CAvahi
import Glibc

/// Delays the embedded engine's event that all known answers are in until its second query had time to be answered.
///
/// The engine starts with an empty cache and says so a second after its first query. But a responder that has multicast
/// a record in the last second does not repeat it (RFC 6762, section 6): a host that has just been announced, or that
/// has just answered another machine, keeps silent then. The second query goes out a second after the first (section
/// 5.2), and answers to it come within 120 ms (section 6), Avahi's own delays of 100 ms on both sides not counted.
final class SettleTimer {
    /// Milliseconds between the engine's event and ours.
    private static let delay: UInt32 = 500

    let context: BrowserContext
    private let api: UnsafePointer<AvahiPoll>
    private var timeout: OpaquePointer?

    /// To be made with the loop lock held.
    init(context: BrowserContext, api: UnsafePointer<AvahiPoll>) {
        self.context = context
        self.api = api
        timeout = api.pointee.timeout_new(api, nil, settleTimePassed, pointer)
    }

    /// To be called when the loop has stopped: the timer cannot fire any more.
    func free() {
        guard let timeout else { return }
        self.timeout = nil
        api.pointee.timeout_free(timeout)
    }

    /// Starts to wait. Runs on Avahi's thread.
    func start() {
        guard let timeout else { return context.sink.send(.allForNow(context.type)) }
        var end = timeval()
        avahi_elapse_time(&end, Self.delay, 0)
        api.pointee.timeout_update(timeout, &end)
    }

    /// The time is over. Runs on Avahi's thread.
    fileprivate func fire() {
        if let timeout { api.pointee.timeout_update(timeout, nil) }
        context.sink.send(.allForNow(context.type))
    }

    /// The pointer that C callbacks get. It is valid as long as the timer lives.
    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static func from(_ pointer: UnsafeMutableRawPointer?) -> SettleTimer? {
        pointer.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }
}

private func settleTimePassed(_ timeout: OpaquePointer?, pointer: UnsafeMutableRawPointer?) {
    SettleTimer.from(pointer)?.fire()
}
