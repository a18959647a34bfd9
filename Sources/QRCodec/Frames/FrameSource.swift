/// Where frames come from. Each is used on one thread of its own, where it may block.
package protocol FrameSource {
    /// Whether frames come in their own time, as from a camera or a pipe. Of these, frames that nobody had the time to
    /// look at are dropped; others, from a file, wait.
    var isLive: Bool { get }

    /// The next frame; `nil` at the end, or when `wake` ended the waiting.
    ///
    /// - Throws: ``QRCodecError`` where no more frames can come.
    mutating func next(_ wake: WakeSignal) throws(QRCodecError) -> Frame?
}
