import CAvahi

/// Avahi's event loop on a thread of its own.
///
/// Every call on an object of the loop, made from outside its thread while that runs, holds the loop lock.
final class AvahiLoop {
    private let pointer: OpaquePointer
    private var isRunning = false
    /// What rings later. Touched with the loop lock held only.
    private var reminders: [ServiceInstance?: Reminder] = [:]
    /// Queries of pairtool's own. Touched with the loop lock held only.
    private var queries: [LinkQuery.Link: LinkQuery] = [:]

    init() throws(DiscoveryError) {
        guard let pointer = avahi_threaded_poll_new() else {
            throw DiscoveryError(.engineUnavailable, "Avahi's event loop cannot be created (out of memory or files)")
        }
        self.pointer = pointer
    }

    deinit {
        stop()
        for query in queries.values { query.close() }
        // Frees the timers of the reminders too. Stops the thread if it still runs. Never on Avahi's own thread: only engines own loops, on their queues.
        avahi_threaded_poll_free(pointer)
    }

    /// The table of functions that Avahi's constructors ask for.
    var api: UnsafePointer<AvahiPoll>? { avahi_threaded_poll_get(pointer) }

    func start() throws(DiscoveryError) {
        guard avahi_threaded_poll_start(pointer) >= 0 else {
            throw DiscoveryError(.engineUnavailable, "the thread of Avahi's event loop cannot be started")
        }
        isRunning = true
    }

    /// Ends the thread; afterwards no lock is needed, and nothing calls back.
    func stop() {
        guard isRunning else { return }
        isRunning = false
        avahi_threaded_poll_stop(pointer)
    }

    /// Sends ``EngineEvent/retryDue(_:)``, or ``EngineEvent/woke`` where there is no instance, after a pause; in place of an
    /// earlier reminder of the same. To be called with the loop lock held.
    func remind(_ sink: EngineSink, of instance: ServiceInstance?, after pause: Duration) {
        reminders[instance]?.free()
        reminders[instance] = Reminder(of: instance, after: pause, sink: sink, loop: self)
    }

    /// To be called with the loop lock held.
    func forget(_ reminder: Reminder, of instance: ServiceInstance?) {
        guard reminders[instance] === reminder else { return }
        reminders[instance] = nil
    }

    /// Asks for an instance's records, for ``EngineEvent/answered(_:_:)``. To be called with the loop lock held.
    func ask(_ instance: ServiceInstance, for sink: EngineSink) {
        guard let api else { return }
        let link = LinkQuery.Link(index: instance.interfaceIndex, transport: instance.transport)
        guard let query = queries[link] ?? LinkQuery(link, sink: sink, api: api) else { return }
        queries[link] = query
        query.ask(instance)
    }

    /// Runs `body` with the loop lock held. Must not be nested, nor called from a callback.
    func locked<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        avahi_threaded_poll_lock(pointer)
        defer { avahi_threaded_poll_unlock(pointer) }
        return try body()
    }
}
