import Dispatch
import QRCodec
import Testing

@testable import class QRCodec.FrameMailbox

@Suite("Codes in frames")
struct FrameScannerTests {
    private static func isOurs(_ bytes: [UInt8]) -> Bool { bytes.starts(with: "ours".utf8) }

    private func scan(
        _ source: FedFrames,
        report: @escaping @Sendable (FrameScanner.Progress) -> Void = { _ in }
    ) async throws -> FrameScanner.Outcome {
        try await FrameScanner.scan({ () throws(QRCodecError) in source }, report: report, where: Self.isOurs)
    }

    @Test("Two frames that show the same are enough, and no more are looked at")
    func agreement() async throws {
        let frame = try Frame.showing("ours 1")
        let outcome = try await scan(FedFrames([.blank, frame, .blank, frame, frame, frame]))
        #expect(outcome.agreed == [Array("ours 1".utf8)])
        #expect(outcome.frames == 4)
        #expect(outcome.others.isEmpty)
    }

    @Test("One frame is not enough, nor are two that show different codes")
    func disagreement() async throws {
        let once = try await scan(FedFrames([try .showing("ours 1"), .blank]))
        #expect(once.agreed.isEmpty)
        #expect(once.others == [Array("ours 1".utf8)])
        let frames = try ["ours 1", "ours 2", "ours 1"].map(Frame.showing)
        let renewed = try await scan(FedFrames(frames))
        #expect(renewed.agreed.isEmpty)
        #expect(renewed.others.count == 2)
    }

    @Test("Where no thread can be had to read on, that is thrown and not waited for", .timeLimit(.minutes(15)))
    func noThread() async throws {
        let error = await #expect(throws: QRCodecError.self) {
            try await FrameScanner.scan(
                { () throws(QRCodecError) in FedFrames([.blank]) },
                readerThread: { _ in throw QRCodecError(.io, message: "There are no more threads.") },
                where: Self.isOurs
            )
        }
        #expect(error?.code == .io)
    }

    @Test("Codes that are not wanted are told of once, and do not end it")
    func others() async throws {
        let other = try Frame.showing("https://example.org/")
        let seen = Recorder()
        let ours = try Frame.showing("ours")
        let outcome = try await scan(FedFrames([other, other, ours, ours])) { seen.add($0) }
        #expect(outcome.agreed == [Array("ours".utf8)])
        #expect(outcome.others == [Array("https://example.org/".utf8)])
        let told = seen.all.filter { if case .other = $0 { true } else { false } }
        #expect(told == [.other(Array("https://example.org/".utf8))])
        #expect(seen.all == told + [.hint(.holdStill)])
    }

    @Test("While a frame is looked at, others come and go; the newest is the next")
    func newest() async throws {
        let (looking, filled) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let frames = try [Frame.showing("other 0")] + (1...9).map { try Frame.showing("other \($0)") }
        let source = FedFrames { number, _ in
            // The first is being looked at before the second comes, and stays so until the last is there.
            if number == 1 { looking.wait() }
            if number == 10 { filled.signal() }
            return number < 10 ? frames[number] : nil
        }
        let outcome = try await scan(source) {
            guard case .other(let bytes) = $0, bytes == Array("other 0".utf8) else { return }
            looking.signal()
            filled.wait()
        }
        // Of those at the end the last two are looked at, in either order.
        #expect(Set(outcome.others) == Set([0, 8, 9].map { Array("other \($0)".utf8) }))
        #expect(outcome.frames == 3 && outcome.dropped == 7)
    }

    @Test("Of frames that end while one is looked at, the last two are handed over, whenever the end is seen")
    func lastTwo() throws {
        let frames = (1...4).map { Frame.jpeg([$0]) }
        func number(_ frame: Frame?) -> UInt8? { if case .jpeg(let bytes) = frame { bytes[0] } else { nil } }
        let late = FrameMailbox()
        for frame in frames { #expect(late.put(frame, isLive: true)) }
        #expect(number(try late.take()) == 4)
        late.finish()
        #expect(number(try late.take()) == 3)
        #expect(number(try late.take()) == nil)
        #expect(late.dropped == 2)
        let early = FrameMailbox()
        for frame in frames { #expect(early.put(frame, isLive: true)) }
        early.finish()
        #expect(number(try early.take()) == 3)
        #expect(number(try early.take()) == 4)
        #expect(number(try early.take()) == nil)
        let steady = FrameMailbox()
        for frame in frames {
            #expect(steady.put(frame, isLive: true))
            #expect(number(try steady.take()) == number(frame))
        }
        steady.finish()
        #expect(number(try steady.take()) == nil)
        #expect(steady.dropped == 0)
    }

    @Test("Frames of a file wait: none is left out")
    func file() async throws {
        let frames = try (0..<12).map { try Frame.showing("other \($0)") }
        let outcome = try await scan(FedFrames(frames))
        #expect(outcome.frames == 12 && outcome.dropped == 0)
        #expect(outcome.others.count == 12)
    }

    @Test("Cancelling ends waiting for a frame that never comes")
    func cancel() async throws {
        let waiting = AsyncStream<Void>.makeStream()
        let task = Task {
            try await scan(
                FedFrames { _, wake in
                    waiting.continuation.yield()
                    // Nothing can ever be read from this end: only the wake ends the waiting.
                    var ends: [Int32] = [-1, -1]
                    guard TestPipe.make(&ends) else { return nil }
                    defer { TestPipe.close(ends) }
                    return wake.wait(forInputFrom: ends[0]) ? .blank : nil
                }
            )
        }
        for await _ in waiting.stream { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("What a source fails with is thrown, after the frames before it were looked at")
    func failure() async throws {
        let frame = try Frame.showing("ours")
        let failing = FedFrames(isLive: false) { number, _ throws(QRCodecError) in
            guard number < 2 else { throw QRCodecError(.cameraFailed, message: "gone") }
            return number == 0 ? frame : .blank
        }
        let error = await #expect(throws: QRCodecError.self) { try await scan(failing) }
        #expect(error?.code == .cameraFailed)
        let late = FedFrames(isLive: false) { number, _ throws(QRCodecError) in
            guard number < 2 else { throw QRCodecError(.cameraFailed, message: "gone") }
            return frame
        }
        #expect(try await scan(late).agreed.count == 1)
    }

    @Test("Damaged JPEG frames are passed over; where all are, the damage is thrown")
    func damaged() async throws {
        let symbol = try QRSymbol(bytes: Array("ours".utf8))
        let good = Frame.jpeg(try JPEGTests.file(PixelGrid(symbol, scale: 4)))
        let bad = Frame.jpeg([0xFF, 0xD8, 0xFF, 0xD9])
        let outcome = try await scan(FedFrames([bad, good, bad, good]))
        #expect(outcome.agreed == [Array("ours".utf8)])
        #expect(outcome.frames == 2)
        let error = await #expect(throws: QRCodecError.self) { try await scan(FedFrames([bad, bad])) }
        #expect(error?.message.contains("JPEG") == true)
    }

    @Test("A code counts as seen for a second's worth of frames, and another one begins anew")
    func patience() {
        let (one, two) = (Set([[UInt8(1)]]), Set([[UInt8(2)]]))
        var agreement = FrameAgreement()
        #expect(agreement.saw([]) == .nothing)
        #expect(agreement.saw(one) == .seen)
        for _ in 0..<FrameAgreement.patience { #expect(agreement.saw([]) == .seen) }
        #expect(agreement.saw(one) == .agreed)
        agreement = FrameAgreement()
        #expect(agreement.saw(one) == .seen)
        for _ in 0..<FrameAgreement.patience { _ = agreement.saw([]) }
        #expect(agreement.saw([]) == .nothing)
        #expect(agreement.saw(one) == .seen)
        #expect(agreement.saw(two) == .seen)
        #expect(agreement.saw(one.union(two)) == .seen)
        #expect(agreement.saw(one.union(two)) == .agreed)
    }
}
