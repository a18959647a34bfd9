package import CompanionWire

/// The person who answers a question.
package struct QuestionDecider: Sendable, Hashable {
    /// The name for people: in the audit, and in the answer to someone who decides too late.
    package var name: String
    /// nil for the owner.
    package var device: CompanionDevice?

    package static let owner = QuestionDecider(name: "The owner", device: nil)

    /// The host, by a rule of its own.
    static let host = QuestionDecider(name: "The host", device: nil)

    init(name: String, device: CompanionDevice?) {
        self.name = name
        self.device = device
    }

    init(_ device: CompanionDevice) {
        // A name is the device's own choice, and may be that of the owner.
        self.init(name: "Device “\(device.name)”", device: device)
    }
}
