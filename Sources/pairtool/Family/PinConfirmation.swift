import ArgumentParser
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity

/// Trust on first use for a server that cannot prove its identity: the user confirms its TLS key once, and every later
/// connection requires that key.
struct PinConfirmation: Sendable {
    let output: Output
    /// The key that the user gave. The user is not asked then.
    let given: CertificatePin?

    /// Gets the certificate that the server shows, once it is trusted.
    ///
    /// - Parameter known: The record of an earlier pairing. Its key is not asked about again.
    /// - Throws: ``CompanionClientError/Code/pinMismatch`` if the key changed, or is not the given one.
    func certificate(
        at endpoint: CompanionEndpoint,
        of name: String,
        known: PairedHost?
    ) async throws -> PinnedCertificate {
        // A pin on the command line replaces the stored one.
        if given == nil, let pin = known?.spki {
            do {
                return try await PinnedTLS.certificate(of: endpoint, expecting: pin)
            } catch let error as CompanionClientError where error.code == .pinMismatch {
                var error = error
                error.advice =
                    "if the server was set up again, compare the key there and give it: pairtool pair --pin sha256:…"
                throw error
            }
        }
        let certificate = try await PinnedTLS.certificate(of: endpoint, expecting: nil)
        let shown = CertificateFingerprints(certificate)
        if let given {
            guard shown.match(given.bytes) else {
                throw CompanionClientError(
                    .pinMismatch,
                    "\(endpoint) shows another TLS key: expected \(given), shown "
                        + "sha256:\(shown.certificate). Someone may be intercepting the connection; nothing was sent.",
                    delivery: .notSent
                )
            }
            return certificate
        }
        let name = TerminalText.line(name)
        output.say(
            """
            \(name) speaks TLS with a key that only you can tell is its own (trust: legacy).
              SHA-256 fingerprint      \(shown.certificate)
              as the server prints it  \(shown.document)
            """
        )
        guard output.context.canAsk else {
            throw CommandError(
                .legacyRefused,
                "pairing.pin_unknown",
                "\(name) was not paired, because its key was not confirmed; nothing was sent",
                next: "compare the key on the host, then: pairtool pair --pin sha256:FINGERPRINT"
            )
        }
        guard try await Question(context: output.context).confirm("Does the host show the same key?") else {
            throw CommandError(.legacyRefused, "pairing.pin_refused", "not paired; nothing was sent")
        }
        return certificate
    }
}

/// The value of `--pin`: the SHA-256 of a certificate, of its key, or of the certificate file.
struct CertificatePin: Sendable, Hashable, CustomStringConvertible, ExpressibleByArgument {
    /// 32 bytes.
    let bytes: [UInt8]

    /// Reads `sha256:` and 64 hex digits, with or without colons, or 43 characters of base64url.
    init?(argument: String) {
        let prefix = "sha256:"
        guard argument.utf8.count > prefix.utf8.count,
            argument.prefix(prefix.count).lowercased().utf8.elementsEqual(prefix.utf8)
        else { return nil }
        let rest = argument.dropFirst(prefix.count)
        let digits = rest.utf8.filter { $0 != UInt8(ascii: ":") }.map(Self.value)
        if digits.count == 64, digits.allSatisfy({ $0 != nil }) {
            let values = digits.compactMap(\.self)
            bytes = stride(from: 0, to: 64, by: 2).map { values[$0] << 4 | values[$0 + 1] }
        } else if let bytes = Base64URL.decode(String(rest)), bytes.count == 32 {
            self.bytes = bytes
        } else {
            return nil
        }
    }

    var description: String { "sha256:" + CertificateFingerprints.text(bytes) }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
