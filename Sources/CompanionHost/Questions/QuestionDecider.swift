package import CompanionWire

/// Who answers a question.
package struct QuestionDecider: Sendable, Hashable {
    /// For people: for the audit, and for the one who answers second.
    package var name: String
    /// nil for the owner.
    package var device: CompanionDevice?

    package static let owner = QuestionDecider(name: "The owner", device: nil)

    init(name: String, device: CompanionDevice?) {
        self.name = name
        self.device = device
    }

    init(_ device: CompanionDevice) {
        // A name is the device's own choice, and may be that of the owner.
        self.init(name: "Device “\(device.name)”", device: device)
    }
}
