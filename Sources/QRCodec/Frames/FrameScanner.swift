/// Reads frames and looks for QR codes in them until two frames agree.
package enum FrameScanner {
    /// How it ended.
    package struct Outcome: Sendable {
        /// The wanted payloads on which two frames agreed, in no order. Empty if the frames ended before.
        package var agreed: Set<[UInt8]> = []
        /// Payloads that were seen and not agreed on, wanted or not, in the order in which they came.
        package var others: [[UInt8]] = []
        /// Frames that were looked at.
        package var frames = 0
        /// Frames that came while others were looked at.
        package var dropped = 0
    }

    /// A report while it runs, from the thread that looks.
    package enum Progress: Sendable, Hashable {
        case hint(FrameHint)
        /// A payload that is not wanted, the first time that it is seen.
        case other([UInt8])
    }

    /// Payloads that are kept of those that are not wanted.
    private static let mostOthers = 16

    /// Reads on one thread and looks on another, both of which have ended when this returns. Cancelling ends it at
    /// once.
    ///
    /// - Parameters:
    ///   - open: Opens the source, on the thread that reads.
    ///   - report: Told what would help.
    ///   - readerThread: Runs what reads, on a thread of its own, and throws where there is none.
    ///   - isWanted: Whether a payload is one that is looked for.
    /// - Throws: ``QRCodecError`` from the source, or with the code `corrupt` where not a single frame could be
    ///   decoded; `CancellationError`.
    package static func scan(
        _ open: @escaping @Sendable () throws(QRCodecError) -> any FrameSource,
        report: @escaping @Sendable (Progress) -> Void = { _ in },
        readerThread: @escaping @Sendable (@escaping @Sendable () -> Void) async throws -> Void = DedicatedThread.run,
        where isWanted: @escaping @Sendable ([UInt8]) -> Bool
    ) async throws -> Outcome {
        let mailbox = FrameMailbox()
        let wake = try WakeSignal()
        let outcome = try await withTaskCancellationHandler {
            async let reading: Void = {
                do {
                    try await readerThread { read(open, into: mailbox, waking: wake) }
                } catch {
                    // Without a thread nothing comes, and nobody else would say so.
                    mailbox.finish(error as? QRCodecError)
                    throw error
                }
            }()
            let looked: Result<Outcome, any Error>
            do {
                looked = .success(try await DedicatedThread.run { try look(mailbox, report: report, where: isWanted) })
            } catch {
                looked = .failure(error)
            }
            // Whatever ends looking ends reading.
            mailbox.close()
            wake.wake()
            try await reading
            return try looked.get()
        } onCancel: {
            mailbox.close()
            wake.wake()
        }
        try Task.checkCancellation()
        return outcome
    }

    private static func read(
        _ open: () throws(QRCodecError) -> any FrameSource,
        into mailbox: FrameMailbox,
        waking wake: WakeSignal
    ) {
        do throws(QRCodecError) {
            var source = try open()
            while let frame = try source.next(wake), mailbox.put(frame, isLive: source.isLive) {}
            mailbox.finish()
        } catch {
            mailbox.finish(error)
        }
    }

    private static func look(
        _ mailbox: FrameMailbox,
        report: (Progress) -> Void,
        where isWanted: ([UInt8]) -> Bool
    ) throws(QRCodecError) -> Outcome {
        var (outcome, agreement, hints) = (Outcome(), FrameAgreement(), FrameHints())
        var shown: FrameHint?
        var damage: QRCodecError?
        while let frame = try mailbox.take() {
            let image: QRImage
            do throws(QRCodecError) {
                image = try frame.image(limits: .frame)
            } catch {
                // The next one may be whole.
                damage = error
                continue
            }
            outcome.frames += 1
            let seen = try QRScanner.scan(frame: image, where: isWanted)
            let payloads = Set(seen.symbols.map(\.bytes))
            let wanted = payloads.filter(isWanted)
            if agreement.saw(wanted) == .agreed {
                outcome.agreed = wanted
                outcome.others.removeAll(where: wanted.contains)
                break
            }
            for symbol in seen.symbols where !outcome.others.contains(symbol.bytes) {
                guard outcome.others.count < mostOthers else { break }
                outcome.others.append(symbol.bytes)
                if !wanted.contains(symbol.bytes) { report(.other(symbol.bytes)) }
            }
            // Another code was read well: what would help is another code.
            guard payloads.isEmpty || !wanted.isEmpty else { continue }
            let hint = hints.take(FrameView(image, candidate: seen.candidate, isRead: !wanted.isEmpty))
            if hint != shown { report(.hint(hint)) }
            shown = hint
        }
        outcome.dropped = mailbox.dropped
        if outcome.frames == 0, let damage { throw damage }
        return outcome
    }
}

extension FrameView {
    init(_ image: QRImage, candidate: SymbolCandidate?, isRead: Bool) {
        self.init(
            light: FrameLight(image),
            side: min(image.width, image.height),
            symbol: candidate,
            isRead: isRead
        )
    }
}
