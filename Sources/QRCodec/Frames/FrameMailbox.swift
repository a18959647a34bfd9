import Glibc

/// Hands frames from the thread that reads to the thread that looks: always the newest.
///
/// When reading has ended, the last two are handed over, in whatever order, so that also of a short stream two frames
/// can agree.
final class FrameMailbox: @unchecked Sendable {
    // Safe because `contents` is only touched between `lock()` and `unlock()`, which hold the mutex, and the mutex and
    // the condition stay where they were allocated until nobody has the mailbox any more.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var contents = Contents()

    private struct Contents {
        var newest: Frame?
        /// The one before, if nobody took it either.
        var previous: Frame?
        /// The one before the last that was taken, if nobody took it.
        var skipped: Frame?
        var dropped = 0
        /// Nothing more comes.
        var isFull = false
        var failure: QRCodecError?
        /// Nothing more is taken.
        var isClosed = false
    }

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// Puts a frame in.
    ///
    /// - Parameter isLive: Whether it takes the place of one that has not been taken; otherwise the call waits until it
    ///   has.
    /// - Returns: Whether more are wanted.
    func put(_ frame: Frame, isLive: Bool) -> Bool {
        lock()
        defer { unlock() }
        while !isLive, contents.newest != nil, !contents.isClosed { pthread_cond_wait(changed, mutex) }
        guard !contents.isClosed else { return false }
        if contents.previous != nil { contents.dropped += 1 }
        (contents.previous, contents.newest) = (contents.newest, frame)
        return true
    }

    /// Says that no more frames come, and perhaps why.
    func finish(_ failure: QRCodecError? = nil) {
        lock()
        defer { unlock() }
        contents.isFull = true
        contents.failure = failure
    }

    /// Ends the frames; a waiting task continues.
    func close() {
        lock()
        defer { unlock() }
        contents.isClosed = true
    }

    /// Waits for a frame that has not been taken yet; `nil` at the end.
    ///
    /// - Throws: What ``finish(_:)`` was told, after the last frame.
    func take() throws(QRCodecError) -> Frame? {
        lock()
        defer { unlock() }
        while contents.newest == nil, !contents.isFull, !contents.isClosed { pthread_cond_wait(changed, mutex) }
        guard !contents.isClosed else { return nil }
        if contents.isFull, let previous = contents.previous {
            contents.previous = nil
            return previous
        }
        guard let newest = contents.newest else {
            if let skipped = contents.skipped {
                contents.skipped = nil
                contents.dropped -= 1
                return skipped
            }
            if let failure = contents.failure { throw failure }
            return nil
        }
        if contents.previous != nil { contents.dropped += 1 }
        (contents.skipped, contents.previous, contents.newest) = (contents.previous, nil, nil)
        return newest
    }

    /// How many frames nobody looked at.
    var dropped: Int {
        lock()
        defer { unlock() }
        return contents.dropped
    }

    // `contents` is never passed on as a whole while somebody waits: that would be a claim to have it alone.
    private func lock() { pthread_mutex_lock(mutex) }

    private func unlock() {
        pthread_cond_broadcast(changed)
        pthread_mutex_unlock(mutex)
    }
}
