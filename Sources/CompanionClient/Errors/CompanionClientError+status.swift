import CompanionWire
import FoundationEssentials

extension CompanionClientError {
    /// Returns the error for a status other than 2xx (protocol v1, "Endpoints" and "Gate").
    ///
    /// - Parameters:
    ///   - answer: The JSON body, where there is one.
    ///   - isHTML: Whether the body is a page. Hosts of the protocol answer pages for 400 (malformed JSON), 404 and
    /// 413.
    static func status(
        _ status: Int,
        answer: CompanionErrorResponse?,
        isHTML: Bool,
        serverDate: Date?,
        endpoint: some CustomStringConvertible
    ) -> CompanionClientError {
        let (code, message) =
            answer?.code.flatMap { meaning(of: $0, endpoint: endpoint) }
            ?? meaning(of: status, hostText: answer?.error, isHTML: isHTML, endpoint: endpoint)
        var error = CompanionClientError(
            code,
            message: message,
            // The host would say the same once more.
            hostText: answer?.code == .deviceExpired || answer?.error == CompanionErrorResponse.Text.httpsOnly
                ? nil : answer?.error,
            httpStatus: status,
            serverDate: answer?.serverTime ?? serverDate
        )
        error.hostCode = answer?.code
        error.triesLeft = answer?.triesLeft
        if let lowest = answer?.minimumVersion, let highest = answer?.maximumVersion, lowest <= highest {
            error.hostVersions = lowest...highest
        }
        return error
    }

    /// Returns the meaning of a v2 host's error code; nil for codes whose status says enough.
    private static func meaning(of code: CompanionErrorCode, endpoint: some CustomStringConvertible) -> (Code, String)?
    {
        switch code {
        case .sessionRequired, .sessionExpired:
            (.sessionExpired, "\(endpoint) rejected this device's session.")
        case .deviceUnknown:
            (.notPaired, "\(endpoint) does not know this device.")
        case .deviceRevoked:
            (.revoked, "\(endpoint) has revoked this device.")
        case .deviceExpired:
            (.revoked, "This device's access to \(endpoint) has expired.")
        case .permissionDenied:
            (.forbidden, "\(endpoint) refused this.")
        case .hostAgentUnavailable, .hostAgentSignIn:
            (.hostSignedOut, "The assistant is not available on \(endpoint).")
        case .hostStorageFailed:
            (.server, "\(endpoint) could not store it, so it was not done.")
        case .quotaExceeded:
            (.forbidden, "\(endpoint) has reached its storage limit for this device.")
        case .chatBusy:
            (.busy, "\(endpoint) is still busy with that chat.")
        case .changesUnavailable:
            (.badRequest, "\(endpoint) cannot report changes.")
        case .sessionUnsaved:
            (.badRequest, "\(endpoint) does not remove work that would be lost.")
        case .approvalDecided:
            (.alreadyDecided, "The question at \(endpoint) no longer needs an answer.")
        case .turnUnknown, .approvalUnknown, .requestNotFound:
            (.notFound, "Not found on \(endpoint).")
        case .commandBadSignature, .commandWrongAudience, .sessionBadSignature:
            (.badRequest, "\(endpoint) rejected this device's signature.")
        default:
            nil
        }
    }

    private static func meaning(
        of status: Int,
        hostText: String?,
        isHTML: Bool,
        endpoint: some CustomStringConvertible
    ) -> (Code, String) {
        typealias Text = CompanionErrorResponse.Text
        let stranger = (Code.notACompanion, "The server on \(endpoint) is not a companion host (status \(status)).")
        switch status {
        case 300..<400:
            return (
                .redirected, "\(endpoint) answered with a redirect; companion hosts never do, so it was not followed."
            )
        case 400 where hostText == Text.httpsOnly:
            return (.notACompanion, "\(endpoint) speaks HTTPS, not plain HTTP: use https://\(endpoint).")
        case 400:
            return (.badRequest, "\(endpoint) refused the request.")
        case 401 where hostText != nil:
            return (.hostSignedOut, "The assistant's account is not signed in on \(endpoint).")
        case 403 where hostText == Text.noDeviceConnected:
            return (.notPaired, "\(endpoint) has no paired device connected.")
        case 403 where hostText != nil:
            return (.forbidden, "\(endpoint) does not allow that.")
        case 404 where !isHTML:
            return (.notFound, "Not found on \(endpoint).")
        case 413:
            return (.tooLarge, "The request is too large for \(endpoint).")
        case 426:
            return (.unsupportedVersion, "\(endpoint) speaks another version of the protocol.")
        case 500...:
            return (.server, "\(endpoint) failed with status \(status).")
        case 401, 403, 404:
            return stranger
        default:
            return isHTML ? stranger : (.badRequest, "\(endpoint) refused the request with status \(status).")
        }
    }
}
