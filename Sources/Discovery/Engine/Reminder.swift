import CAvahi
import Glibc

/// Rings once on Avahi's loop: it is time to resolve an instance anew, or for the program to look what it waits for.
final class Reminder {
    private let instance: ServiceInstance?
    private let sink: EngineSink
    /// The loop owns its reminders, and has stopped before it goes.
    private unowned let loop: AvahiLoop
    private let api: UnsafePointer<AvahiPoll>
    private var timeout: OpaquePointer?

    /// To be made with the loop lock held.
    init?(of instance: ServiceInstance?, after pause: Duration, sink: EngineSink, loop: AvahiLoop) {
        guard let api = loop.api else { return nil }
        self.instance = instance
        self.sink = sink
        self.loop = loop
        self.api = api
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
        loop.forget(self, of: instance)
        sink.send(instance.map { .retryDue($0) } ?? .woke)
    }
}

private func reminderRang(_ timeout: OpaquePointer?, _ pointer: UnsafeMutableRawPointer?) {
    guard let pointer else { return }
    Unmanaged<Reminder>.fromOpaque(pointer).takeUnretainedValue().ring()
}
