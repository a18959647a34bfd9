import Dispatch
import Glibc
import QRCodec

/// Keeps what was told, from any thread.
final class Recorder: @unchecked Sendable {
    // Safe because `told` is only touched on the queue.
    private let queue = DispatchQueue(label: "recorder")
    private var told: [FrameScanner.Progress] = []

    func add(_ progress: FrameScanner.Progress) { queue.sync { told.append(progress) } }

    var all: [FrameScanner.Progress] { queue.sync { told } }
}

/// A pipe.
enum TestPipe {
    static func make(_ ends: inout [Int32]) -> Bool { pipe(&ends) == 0 }
    static func close(_ ends: [Int32]) { ends.forEach { _ = Glibc.close($0) } }
}
