import CompanionWire
package import Desktop
package import Discovery
package import History
package import Identity
package import LocalState
package import PairingAgent
package import QRCodec

/// An error of a module, which says how users are told about it.
package protocol DescribedError: Error {
    /// The error for users, in words of the module.
    var described: AppError { get }
    /// Whether the message begins with the name of a host or a device. Default: false.
    var opensWithName: Bool { get }
}

extension DescribedError {
    package var opensWithName: Bool { false }
}

extension AppError {
    /// Converts an error of any module to one for users.
    package init(describing error: any Error) {
        if let error = error as? AppError {
            self = error
            return
        }
        let known = error as? any DescribedError
        self = known?.described ?? AppError(.failed, "failed", "\(error)")
        message = MessageStyle.sentence(message, beginsWithName: known?.opensWithName ?? false)
    }
}

// MARK: Files

extension RecordFileError: DescribedError {
    package var described: AppError { AppError(.failed, "hosts.unreadable", description, next: remedy) }
}

extension KeyStoreError: DescribedError {
    package var described: AppError { AppError(.failed, "key.unusable", message, next: remedy) }
}

extension PrivateFile.Failure: DescribedError {
    package var described: AppError { AppError(.failed, "file", description, next: remedy) }
}

extension HistoryError: DescribedError {
    package var described: AppError { AppError(.failed, "history.\(code)", message, next: remedy) }
}

// MARK: Pictures and the desktop

extension QRCodecError: DescribedError {
    package var described: AppError {
        let picture = "read the code from a picture: pairtool pair --qr FILE"
        return switch code {
        case .cameraNotFound:
            AppError(.nothingFound, "camera.not_found", message, next: "connect a camera, or \(picture)")
        case .cameraBusy:
            AppError(.failed, "camera.busy", message, next: "end the program that uses the camera, or \(picture)")
        case .cameraDenied:
            AppError(.permissionDenied, "camera.denied", message, next: "see who may use it: pairtool doctor")
        case .notACamera:
            AppError(.usage, "camera.not_a_camera", message, next: "list the cameras: ls /dev/video*")
        case .cameraFailed: AppError(.failed, "camera.failed", message, next: picture)
        case .fileNotFound: AppError(.nothingFound, "file.not_found", message)
        case .fileDenied: AppError(.permissionDenied, "file.denied", message)
        case .io: AppError(.failed, "file.unreadable", message)
        default: AppError(.failed, "image.\(code)", message)
        }
    }
}

extension DesktopError: DescribedError {
    package var described: AppError {
        let kind: AppError.Kind =
            switch code {
            case .noDirectory, .empty: .nothingFound
            case .refused: .permissionDenied
            default: .failed
            }
        return AppError(kind, "desktop.\(code)", message, next: remedy)
    }
}

// MARK: The network

extension DiscoveryError: DescribedError {
    package var described: AppError {
        let isUsage = [.invalidType, .invalidInterface, .invalidAdvertisement, .domainUnsupported].contains(code)
        let next: String? =
            switch (code, engine) {
            case (.engineUnavailable, .daemon?): "use the engine that needs no daemon: add --engine embedded"
            case (.engineUnavailable, _): "see why: pairtool doctor"
            default: nil
            }
        return AppError(isUsage ? .usage : .failed, "discovery.\(code)", description, next: next)
    }
}
