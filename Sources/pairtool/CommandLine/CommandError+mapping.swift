import CompanionClient
import CompanionHost
import CompanionWire
import Desktop
import Discovery
import History
import Identity
import LocalState
import PairingAgent
import Providers
import QRCodec

extension CommandError {
    /// Converts an error of any module to one that the command line reports.
    init(describing error: any Error) {
        if let error = error as? CommandError {
            self = error
            return
        }
        self =
            switch error {
            case let error as QRCodecError: Self.image(error)
            case let error as DiscoveryError: Self.discovery(error)
            case let error as RecordFileError:
                CommandError(.failed, "hosts.unreadable", error.description, next: error.remedy)
            case let error as KeyStoreError: CommandError(.failed, "key.unusable", error.message, next: error.remedy)
            case let error as PrivateFile.Failure: CommandError(.failed, "file", error.description, next: error.remedy)
            case let error as CompanionClientError: Self.client(error)
            case let error as PairingError: Self.pairing(error)
            case let error as DesktopError: Self.desktop(error)
            case let error as CompanionHostError: Self.host(error)
            case let error as AdminError: Self.admin(error)
            case let error as ProviderError: Self.provider(error)
            case let error as HistoryError:
                CommandError(.failed, "history.\(error.code)", error.message, next: error.remedy)
            case let error as LumiStoreError: Self.lumiStore(error)
            case let error as ProviderKeyStoreError:
                CommandError(.failed, "store.\(error.code)", error.message, next: error.remedy)
            case let error as LumiInputError: CommandError(.usage, "remote.input", error.message)
            case let error as JarvisDecisionError:
                CommandError(.failed, "approval.\(error.code)", error.description, next: "pairtool approvals")
            default: CommandError(.failed, "failed", "\(error)")
            }
        message = MessageStyle.sentence(message, beginsWithName: Self.beginsWithName(error))
    }

    /// Whether the message of an error begins with the name of a host or a device.
    private static func beginsWithName(_ error: any Error) -> Bool {
        switch error {
        case let error as CompanionClientError: error.beginsWithName || error.code == .alreadyDecided
        case let error as AdminError: error.reason == .approvalDecided
        default: false
        }
    }

    private static func image(_ error: QRCodecError) -> CommandError {
        let picture = "read the code from a picture: pairtool pair --qr FILE"
        return switch error.code {
        case .cameraNotFound:
            CommandError(.nothingFound, "camera.not_found", error.message, next: "connect a camera, or \(picture)")
        case .cameraBusy:
            CommandError(
                .failed,
                "camera.busy",
                error.message,
                next: "end the program that uses the camera, or \(picture)"
            )
        case .cameraDenied:
            CommandError(
                .permissionDenied,
                "camera.denied",
                error.message,
                next: "see who may use it: pairtool doctor"
            )
        case .notACamera:
            CommandError(.usage, "camera.not_a_camera", error.message, next: "list the cameras: ls /dev/video*")
        case .cameraFailed: CommandError(.failed, "camera.failed", error.message, next: picture)
        case .fileNotFound: CommandError(.nothingFound, "file.not_found", error.message)
        case .fileDenied: CommandError(.permissionDenied, "file.denied", error.message)
        case .io: CommandError(.failed, "file.unreadable", error.message)
        default: CommandError(.failed, "image.\(error.code)", error.message)
        }
    }

    private static func discovery(_ error: DiscoveryError) -> CommandError {
        let isUsage = [.invalidType, .invalidInterface, .invalidAdvertisement, .domainUnsupported].contains(error.code)
        let next: String? =
            switch (error.code, error.engine) {
            case (.engineUnavailable, .daemon?): "use the engine that needs no daemon: add --engine embedded"
            case (.engineUnavailable, _): "see why: pairtool doctor"
            default: nil
            }
        return CommandError(isUsage ? .usage : .failed, "discovery.\(error.code)", error.description, next: next)
    }
}
