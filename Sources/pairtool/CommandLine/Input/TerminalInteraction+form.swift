import CompanionWire
import Desktop
import PairingAgent
import Terminal

extension TerminalInteraction {
    /// The user fills in a form, or opens a page, by keys and lines.
    ///
    /// - Returns: nil if the user gives no answer here.
    /// - Throws: `CancellationError` when the user interrupts.
    func answerByHand(_ approval: Approval) async throws -> ApprovalAnswer? {
        let view = (key: UInt8(ascii: "v"), words: "show again")
        let start =
            approval.link == nil
            ? [(UInt8(ascii: "y"), approval.form?.fields.isEmpty == true ? "yes" : "fill in")]
            : [(UInt8(ascii: "o"), "open it here"), (UInt8(ascii: "y"), "it is open elsewhere")]
        while true {
            // Below anything in the agent's words, and what would be opened.
            if let link = approval.link {
                guard let page = PageLink(link) else { return nil }
                write("\(page.url)\nThis page is on \(page.server).\n")
            }
            switch try await pick(from: start + Self.refusals + [view]) {
            case view.key: try await show(approval)
            case UInt8(ascii: "y"):
                guard let form = approval.form else { return said(.option(ApprovalOption.accept.id), approval) }
                return try await fill(form).map { said($0, approval) }
            case UInt8(ascii: "o"):
                guard let link = approval.link.flatMap({ PageLink($0) }), await open(link) else { continue }
                return said(.option(ApprovalOption.accept.id), approval)
            case let key?: return Self.refusal(key).map { said($0, approval) }
            case nil: return nil
            }
        }
    }

    private static let refusals = [(UInt8(ascii: "n"), "decline"), (UInt8(ascii: "d"), "dismiss")]

    private static func refusal(_ key: UInt8) -> ApprovalAnswer? {
        switch key {
        case UInt8(ascii: "n"): .reject(always: false, reason: nil)
        case UInt8(ascii: "d"): .dismissed
        default: nil
        }
    }

    /// Keeps that the user has given an answer, so that it is not told again.
    private func said(_ answer: ApprovalAnswer, _ approval: Approval) -> ApprovalAnswer {
        let option = try? answer.option(of: approval.options ?? [], mayAlways: false)
        if let option { context.answers.insert(option.name, to: approval.id) }
        return answer
    }

    /// - Returns: One of the keys; nil at the end of the input.
    private func pick(from choices: [(key: UInt8, words: String)]) async throws -> UInt8? {
        let words = choices.map { "[\(Character(Unicode.Scalar($0.key)))] \($0.words)" }
        let shown = OptionKeys.lines(of: words, columns: context.windowSize()?.columns)
        while true {
            let typed = try await context.key(shown)
            context.stderr.write("\n")
            guard let key = typed else { return nil }
            if choices.contains(where: { $0.key == key }) { return key }
        }
    }

    /// - Returns: Whether the desktop opens the page.
    private func open(_ link: PageLink) async -> Bool {
        do {
            try await PageOpener(environment: context.environment).open(link)
            return true
        } catch let error as DesktopError {
            // A warning would wait until the questions are over.
            write("\(error.message).\(error.remedy.map { " To change that: \($0)" } ?? "")\n")
            return false
        } catch {
            return false
        }
    }

    // MARK: Lines

    /// Asks for each value of a form. What was typed stays, also where it is wrong.
    private func fill(_ form: ApprovalForm) async throws -> ApprovalAnswer? {
        var typed = form.fields.map { field in field.defaultValue.map(field.typed) ?? "" }
        while true {
            var values: [String: JSONValue] = [:]
            for (index, field) in form.fields.enumerated() {
                write("\n" + field.question)
                guard try await fill(field, typed: &typed[index], into: &values) else { return nil }
            }
            guard !form.fields.isEmpty else { return .filled([:]) }
            do throws(FormFaults) {
                _ = try form.checked(values)
            } catch {
                write("\(error).\n")
                continue
            }
            write("\n" + form.fields.map { "\($0.label): \(values[$0.name].map($0.shown) ?? "–")\n" }.joined())
            switch try await pick(from: [(UInt8(ascii: "y"), "send"), (UInt8(ascii: "e"), "change")] + Self.refusals) {
            case UInt8(ascii: "y"): return .filled(values)
            case UInt8(ascii: "e"): continue
            case let key?: return Self.refusal(key)
            case nil: return nil
            }
        }
    }

    /// - Returns: Whether the input has not ended.
    private func fill(
        _ field: FormField,
        typed: inout String,
        into values: inout [String: JSONValue]
    ) async throws -> Bool {
        while true {
            guard let line = try await context.editedLine("› ", text: typed) else { return false }
            typed = line
            do throws(FormFault) {
                // An empty line leaves it out.
                if line.isEmpty {
                    guard !field.isRequired else { throw FormFault(field.name, "is required") }
                } else {
                    values[field.name] = try field.value(typed: line)
                }
                return true
            } catch {
                write("\(error).\n")
            }
        }
    }

    private func write(_ text: String) { context.stderr.write(TerminalText.block(text)) }
}

extension FormField {
    /// The text above the line for the value.
    fileprivate var question: String {
        let lines = [heading, description.map { "  \($0)" }].compactMap(\.self) + choiceLines.map { "  \($0)" }
        return lines.joined(separator: "\n") + "\n"
    }
}
