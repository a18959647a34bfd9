import CAvahi
import Glibc

/// Does something once on Avahi's loop: it is time to resolve an instance anew, or for the program to look what it
/// waits for.
final class Reminder {
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
        timeout = api.pointee.timeout_new(api, &end, reminderRang, Unmanaged.passUnretained(self).toOpaque())
    }

    /// To be called with the loop lock held. Without it, the timer goes with the loop.
    func free() {
        guard let timeout else { return }
        self.timeout = nil
        api.pointee.timeout_free(timeout)
    }

    /// The time has come. Runs on Avahi's thread.
    fileprivate func ring() {
        free()
        action()
    }
}

private func reminderRang(_ timeout: OpaquePointer?, _ pointer: UnsafeMutableRawPointer?) {
    guard let pointer else { return }
    // Kept while it rings: the loop lets go of it then.
    let reminder = Unmanaged<Reminder>.fromOpaque(pointer).takeUnretainedValue()
    withExtendedLifetime(reminder) { reminder.ring() }
}
