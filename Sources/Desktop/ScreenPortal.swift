import CompanionWire
import DBus
import FoundationEssentials
import Glibc
import LocalState
import QRCodec

/// Gets a picture of the screen from the desktop portal (XDG Desktop Portal, `org.freedesktop.portal.Screenshot`).
package struct ScreenPortal: Sendable {
    private static let portal = DBusInterface(
        "org.freedesktop.portal.Screenshot",
        path: "/org/freedesktop/portal/desktop",
        service: "org.freedesktop.portal.Desktop"
    )
    private static let request = "org.freedesktop.portal.Request"
    /// How long to wait for the answer, because the portal may ask the user.
    private static let patience = Duration.seconds(120)

    let environment: [String: String]

    package init(environment: [String: String]) {
        self.environment = environment
    }

    /// - Returns: The bytes of an image file. The file that the portal created is removed.
    /// - Throws: ``DesktopError``, `CancellationError`.
    package func picture() async throws -> [UInt8] {
        guard let address = DBusAddress.session(environment: environment) else {
            throw DesktopError(.noBus, message: "there is no desktop session (no message bus)")
        }
        do {
            let response = try await withTimeLimit(Self.patience) {
                try await DBusConnection.with(address) { try await Self.response(over: $0) }
            }
            try Task.checkCancellation()
            guard let response = response ?? nil else {
                throw DesktopError(.noAnswer, message: "the desktop portal gave no picture in time")
            }
            let bytes = try await BlockingCall.run { try Self.picture(response) }
            return bytes
        } catch let failure as DBusError {
            throw Self.unavailable(failure)
        }
    }

    private static func response(over bus: DBusConnection) async throws -> DBusMessage? {
        // Subscribe before the call that triggers the signal.
        let signals = try await bus.signals(of: request, from: portal.service)
        let reply = try await bus.call(
            "Screenshot",
            of: portal,
            with: [.string(""), .dictionary(["interactive": .bool(false)])]
        )
        let handle = reply.values.first?.string
        return await signals.first { $0.member == "Response" && $0.path == handle && $0.sender == reply.sender }
    }

    private static func unavailable(_ failure: DBusError) -> DesktopError {
        guard
            failure.isAny(of: "ServiceUnknown", "NameHasNoOwner", "UnknownMethod", "UnknownInterface", "UnknownObject")
                || failure.name.has(".Spawn.")
        else {
            return DesktopError(.failed, message: "the desktop portal gives no picture: \(failure)")
        }
        return DesktopError(
            .noAnswer,
            message: "no desktop portal can take a screenshot",
            remedy: "install xdg-desktop-portal and your desktop's backend, or save a picture: pairtool pair --qr FILE"
        )
    }

    private static func picture(_ response: DBusMessage) throws -> [UInt8] {
        // 0: success, 1: the user refused, 2: ended otherwise.
        switch response.values.first?.uint32 {
        case 0?: break
        case 1?: throw DesktopError(.refused, message: "the desktop did not allow a screenshot")
        default: throw DesktopError(.failed, message: "the desktop portal gave no picture")
        }
        guard let uri = response.values.last?.dictionary?["uri"]?.string,
            uri.begins(with: "file://"), let url = URL(string: uri)
        else { throw DesktopError(.failed, message: "the desktop portal gave no file") }
        defer { unlink(url.path) }
        do {
            return try ImageFile.bytes(ofFile: url.path)
        } catch {
            throw DesktopError(.failed, message: "the desktop portal's picture cannot be read: \(error.message)")
        }
    }
}
