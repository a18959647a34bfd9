package import CompanionWire
package import QRCodec

/// Tells the person who holds a code in front of a camera what to do.
package protocol CodeHints: Sendable {
    func show(_ hint: FrameHint)
    /// Explains a code that cannot be used.
    func show(_ content: QRContent)
    func clear()
}
