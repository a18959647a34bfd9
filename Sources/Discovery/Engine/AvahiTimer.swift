import CAvahi
import Glibc

/// Runs an action once on Avahi's loop, after a delay: resolves an instance again, say.
final class AvahiTimer {
    private let api: UnsafePointer<AvahiPoll>
    private let action: () -> Void
    private var timeout: OpaquePointer?

    /// To be made with the loop lock held.
    ///
    /// - Parameter action: Runs on Avahi's thread.
    init(after pause: Duration, api: UnsafePointer<AvahiPoll>, action: @escaping () -> Void) {
        self.api = api
        self.action = action
        var end = timeval()
        let (seconds, attoseconds) = pause.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        avahi_elapse_time(&end, UInt32(clamping: milliseconds), 0)
        timeout = api.pointee.timeout_new(api, &end, timerFired, Unmanaged.passUnretained(self).toOpaque())
    }

    /// To be called with the loop lock held. Without it, the timer goes with the loop.
    func free() {
        guard let timeout else { return }
        self.timeout = nil
        api.pointee.timeout_free(timeout)
    }

    /// The time has come. Runs on Avahi's thread.
    fileprivate func fire() {
        free()
        action()
    }
}

private func timerFired(_ timeout: OpaquePointer?, pointer: UnsafeMutableRawPointer?) {
    guard let pointer else { return }
    // Kept while it fires, because the loop releases it then.
    let timer = Unmanaged<AvahiTimer>.fromOpaque(pointer).takeUnretainedValue()
    withExtendedLifetime(timer) { timer.fire() }
}
