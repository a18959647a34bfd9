import CompanionClient
package import CompanionWire
import PairingAgent

/// The answer to a form that the command line gives.
package enum FormAnswer {
    /// A value as it was typed, with the name of its field.
    package struct Typed: Sendable, Hashable {
        package var name: String
        package var text: String

        package init(name: String, text: String) {
            (self.name, self.text) = (name, text)
        }
    }

    /// Reads the values of a form.
    ///
    /// - Parameters:
    ///   - given: Names with their values as they were typed; a name that comes twice has several.
    ///   - command: The command that shows requests, for the advice.
    /// - Throws: ``AppError`` that names each value which cannot be taken.
    package static func values(
        _ given: [Typed],
        for approval: Approval,
        command: String
    ) throws -> [String: JSONValue] {
        guard let form = approval.form else {
            throw AppError(
                .usage,
                "usage",
                "“\(approval.title.scalars(atMost: 200))” asks for no values",
                next: "\(command) show \(approval.id.shortID)"
            )
        }
        var values: [String: JSONValue] = [:]
        var faults: [FormFault] = []
        for name in given.map({ ByteText($0.name) }).unique {
            guard let field = form.field(name.text) else {
                faults.append(FormFault(name.text, "is no field of the form"))
                continue
            }
            do throws(FormFault) {
                values[name.text] = try field.value(
                    typed: given.filter { ByteText($0.name) == name }.map(\.text)
                )
            } catch {
                faults.append(error)
            }
        }
        let wrong = Set(faults.map { ByteText($0.field) })
        for field in form.fields where values[field.name] == nil && !wrong.contains(ByteText(field.name)) {
            // What the form begins with counts unless something else is said.
            if let value = field.defaultValue {
                values[field.name] = value
            } else if field.isRequired {
                faults.append(FormFault(field.name, "is required"))
            }
        }
        guard faults.isEmpty else {
            throw AppError(
                .usage,
                "approval.invalid_answer",
                "the answer cannot be sent: \(FormFaults(faults))",
                next: "\(command) show \(approval.id.shortID)"
            )
        }
        return values
    }
}
