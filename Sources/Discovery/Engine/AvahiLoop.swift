import CAvahi

/// Avahi's event loop on a thread of its own.
///
/// Every call on an object of the loop, made from outside its thread while that runs, holds the loop lock.
final class AvahiLoop {
    private let pointer: OpaquePointer
    private var isRunning = false
    /// The timers that have not fired yet. Touched with the loop lock held only.
    private var timers: [ServiceInstance?: AvahiTimer] = [:]
    /// Queries of pairtool's own. Touched with the loop lock held only.
    private var queries: [ServiceInstance.Link: LinkQuery] = [:]
    /// The instances to ask for when ``askTimer`` fires. Touched with the loop lock held only.
    private var asks: [ServiceInstance] = []
    private var askTimer: AvahiTimer?

    init() throws(DiscoveryError) {
        guard let pointer = avahi_threaded_poll_new() else {
            throw DiscoveryError(
                .engineUnavailable,
                message: "Avahi's event loop cannot be created (out of memory or files)"
            )
        }
        self.pointer = pointer
    }

    deinit {
        stop()
        for query in queries.values { query.close() }
        // Frees the timers too. Stops the thread if it still runs. Never on Avahi's own thread: only
        // engines own loops, on their queues.
        avahi_threaded_poll_free(pointer)
    }

    /// The table of functions that Avahi's constructors ask for.
    var api: UnsafePointer<AvahiPoll>? { avahi_threaded_poll_get(pointer) }

    func start() throws(DiscoveryError) {
        guard avahi_threaded_poll_start(pointer) >= 0 else {
            throw DiscoveryError(.engineUnavailable, message: "the thread of Avahi's event loop cannot be started")
        }
        isRunning = true
    }

    /// Ends the thread; afterwards no lock is needed, and nothing calls back.
    func stop() {
        guard isRunning else { return }
        isRunning = false
        avahi_threaded_poll_stop(pointer)
    }

    /// Sends ``EngineEvent/retryDue(_:)``, or ``EngineEvent/woke`` where there is no instance, after a pause; in place
    /// of an earlier timer of the same. To be called with the loop lock held.
    func setTimer(_ sink: EngineSink, for instance: ServiceInstance?, after pause: Duration) {
        guard let api else { return }
        timers[instance]?.free()
        timers[instance] = AvahiTimer(after: pause, api: api) { [unowned self] in
            timers[instance] = nil
            sink.send(instance.map { .retryDue($0) } ?? .woke)
        }
    }

    /// Asks for an instance's records, for ``EngineEvent/answered(_:_:)``. To be called with the loop lock held.
    func ask(_ instance: ServiceInstance, for sink: EngineSink) {
        guard let api else { return }
        asks.append(instance)
        guard asks.count == 1 else { return }
        // On Avahi's own thread: its loop aborts when it finds, after it has polled, a watch that it did not poll.
        askTimer = AvahiTimer(after: .zero, api: api) { [unowned self] in
            for instance in asks {
                guard let link = instance.link,
                    let query = queries[link] ?? LinkQuery(link, sink: sink, api: api)
                else { continue }
                queries[link] = query
                query.ask(instance)
            }
            asks = []
            askTimer = nil
        }
    }

    /// Keeps what is multicast on these links from now on. To be called before the loop is started.
    func overhear(_ links: [ServiceInstance.Link], for sink: EngineSink) {
        guard let api else { return }
        for link in links where queries[link] == nil { queries[link] = LinkQuery(link, sink: sink, api: api) }
        for link in links { queries[link]?.keepsWhatItHears = true }
    }

    /// Resolves an instance from the multicast records that were overheard; nil if they are not enough. To be called
    /// with the loop lock held.
    func overheard(_ instance: ServiceInstance) -> ServiceResolution? {
        instance.link.flatMap { queries[$0] }?.overheard(instance)
    }

    /// Runs `body` with the loop lock held. Must not be nested, nor called from a callback.
    func locked<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        avahi_threaded_poll_lock(pointer)
        defer { avahi_threaded_poll_unlock(pointer) }
        return try body()
    }
}
