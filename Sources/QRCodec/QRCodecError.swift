/// An error while an image was read or a QR code was drawn.
package struct QRCodecError: Error, CustomStringConvertible {
    /// The kind of failure.
    package var code: Code
    /// One sentence for people: what happened and, where it helps, with which figures. Holds no payload bytes.
    package var message: String
    /// The place in pairtool's sources where it was thrown.
    package var location: Location

    package init(
        _ code: Code,
        message: String,
        file: String = #fileID,
        line: Int = #line
    ) {
        self.code = code
        self.message = message
        self.location = Location(file: file, line: line)
    }

    package var description: String { message }

    /// A place in the sources.
    package struct Location: Sendable, Hashable, CustomStringConvertible {
        /// The file of the source, with its module.
        package var file: String
        /// The line in the file, counted from 1.
        package var line: Int

        /// `Module/File.swift:12`.
        package var description: String { "\(file):\(line)" }
    }
}

extension QRCodecError {
    /// The kinds of failure. Compare with `==`, more may come.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String {
            case empty, truncated, corrupt, io
            case unsupportedFormat = "unsupported_format"
            case tooLarge = "too_large"
            case decoderFailed = "decoder_failed"
            case missingLibrary = "missing_library"
            case encoderFailed = "encoder_failed"
            case payloadTooLong = "payload_too_long"
            case windowTooSmall = "window_too_small"
            case fileNotFound = "file_not_found"
            case fileDenied = "file_denied"
            case cameraNotFound = "camera_not_found"
            case cameraBusy = "camera_busy"
            case cameraDenied = "camera_denied"
            case notACamera = "not_a_camera"
            case cameraFailed = "camera_failed"
        }

        private let kind: Kind

        /// There are no bytes at all.
        package static let empty = Code(kind: .empty)
        /// None of the formats that are read; the message says what it is instead, as far as the first bytes tell.
        package static let unsupportedFormat = Code(kind: .unsupportedFormat)
        /// The data ends too early, and no QR code was found in the part that is there.
        package static let truncated = Code(kind: .truncated)
        /// The data breaks its format's rules, and no QR code was found in what could be read.
        package static let corrupt = Code(kind: .corrupt)
        /// More bytes, pixels or memory than ``ImageLimits`` allows, or a drawing beyond any use.
        package static let tooLarge = Code(kind: .tooLarge)
        /// A library that reads failed for a reason of its own, such as a lack of memory.
        package static let decoderFailed = Code(kind: .decoderFailed)
        /// The library that reads this format is not installed; the message says which.
        package static let missingLibrary = Code(kind: .missingLibrary)
        /// A library that draws failed for a reason of its own, such as a lack of memory.
        package static let encoderFailed = Code(kind: .encoderFailed)
        /// More bytes than the largest QR code holds at the chosen error correction.
        package static let payloadTooLong = Code(kind: .payloadTooLong)
        /// The terminal is too small for the drawing; the message has both sizes.
        package static let windowTooSmall = Code(kind: .windowTooSmall)
        /// A file could not be opened or read.
        package static let io = Code(kind: .io)
        /// There is no such file.
        package static let fileNotFound = Code(kind: .fileNotFound)
        /// The user may not read the file.
        package static let fileDenied = Code(kind: .fileDenied)
        /// There is no camera, or it was unplugged.
        package static let cameraNotFound = Code(kind: .cameraNotFound)
        /// Another program films with the camera.
        package static let cameraBusy = Code(kind: .cameraBusy)
        /// The user has no permission to use the camera.
        package static let cameraDenied = Code(kind: .cameraDenied)
        /// The path leads to something other than a camera, or to a device that gives no pictures.
        package static let notACamera = Code(kind: .notACamera)
        /// The camera failed for a reason of its own.
        package static let cameraFailed = Code(kind: .cameraFailed)

        package var description: String { kind.rawValue }
    }
}
