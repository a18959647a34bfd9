import CompanionWire

extension QuestionNotice {
    /// What became of a question, for people.
    var ending: String {
        let person = decidedBy ?? "Someone"
        return switch state {
        case .approved, .rejected: answer.map { "\(person) answered “\($0)”" } ?? "\(person) \(state.rawValue) it"
        case .expired: "Nobody answered in time: rejected"
        case .cancelled, .open, .interrupted: "The question needs no answer any more"
        }
    }
}
