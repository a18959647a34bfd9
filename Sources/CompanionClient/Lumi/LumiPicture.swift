package import CompanionWire

/// A picture of a Mac's screen.
package struct LumiScreenshot: Sendable, Hashable {
    package let type: PictureType
    package let bytes: [UInt8]
}
