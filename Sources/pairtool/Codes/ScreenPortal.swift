import CompanionWire
import Desktop
import FoundationEssentials
import Glibc
import QRCodec

/// Asks the desktop portal for a picture of the screen (XDG Desktop Portal, `org.freedesktop.portal.Screenshot`).
struct ScreenPortal: Sendable {
    private static let service = "org.freedesktop.portal.Desktop"
    private static let path = "/org/freedesktop/portal/desktop"
    private static let request = "org.freedesktop.portal.Request"
    /// The user may be asked.
    private static let patience = Duration.seconds(120)

    let environment: [String: String]

    /// - Returns: An image file's bytes. The file that the portal made for it is removed.
    /// - Throws: ``DesktopError``, `CancellationError`.
    func picture() async throws -> [UInt8] {
        guard let socket = DesktopBus.path(environment: environment) else {
            throw DesktopError(.noBus, "there is no desktop session (no message bus)")
        }
        do {
            let response = try await withTimeLimit(Self.patience) {
                try await DesktopBus.with(path: socket) { try await Self.response(over: $0) }
            }
            try Task.checkCancellation()
            guard let response = response ?? nil else {
                throw DesktopError(.noAnswer, "the desktop portal gave no picture in time")
            }
            let bytes = try await BlockingCall.run { try Self.picture(response) }
            return bytes
        } catch let failure as DesktopBus.Failure {
            throw Self.unavailable(failure)
        }
    }

    private static func response(over bus: DesktopBus) async throws -> DBusMessage? {
        // Asked for before the call that brings it about.
        try await bus.listen(to: request, of: service)
        let answer = try await bus.call(
            .call(
                "Screenshot",
                interface: "org.freedesktop.portal.Screenshot",
                path: path,
                destination: service,
                [.string(""), .hints(["interactive": .flag(false)])]
            )
        )
        let handle = answer.body.first?.text
        return await bus.signals.first { signal in
            signal.interface == request && signal.member == "Response" && signal.path == handle
                && signal.sender == answer.sender
        }
    }

    private static func unavailable(_ failure: DesktopBus.Failure) -> DesktopError {
        let absences = ["ServiceUnknown", "NameHasNoOwner", "UnknownMethod", "UnknownInterface", "UnknownObject"]
        let name = failure.errorName ?? ""
        guard absences.contains(where: { name.ends(with: ".\($0)") }) || name.has(".Spawn.") else {
            return DesktopError(.failed, "the desktop portal gives no picture: \(failure.description)")
        }
        return DesktopError(
            .noAnswer,
            "no desktop portal can take a screenshot",
            remedy: "install xdg-desktop-portal and your desktop's backend, or save a picture: pairtool pair --qr FILE"
        )
    }

    private static func picture(_ response: DBusMessage) throws -> [UInt8] {
        // 0: done, 1: the user said no, 2: ended otherwise.
        switch response.body.first?.number {
        case 0?: break
        case 1?: throw DesktopError(.refused, "the desktop did not allow a screenshot")
        default: throw DesktopError(.failed, "the desktop portal gave no picture")
        }
        guard case .hints(let results)? = response.body.last, case .string(let uri)? = results["uri"],
            uri.begins(with: "file://"), let url = URL(string: uri)
        else { throw DesktopError(.failed, "the desktop portal gave no file") }
        defer { unlink(url.path) }
        do {
            return try ImageFile.bytes(ofFile: url.path)
        } catch {
            throw DesktopError(.failed, "the desktop portal's picture cannot be read: \(error.message)")
        }
    }
}
