import CompanionClient
import CompanionWire
import FoundationEssentials

/// The daemon's answer to a request, in JSON.
struct ApprovalReceiptRow: Encodable {
    var id: JarvisApprovalID
    var action: String
    var status: JarvisApprovalStatus
    /// The daemon's message; absent if its answer was lost and the result is known only from the request's state.
    var message: String?
    /// The base URL that it was read from.
    var daemon: String

    init(_ receipt: JarvisReceipt, action: String, at base: JarvisBase) {
        id = receipt.id
        self.action = action
        status = receipt.status
        message = receipt.message
        daemon = "\(base)"
    }
}
