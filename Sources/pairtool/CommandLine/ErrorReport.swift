import CompanionApp
import PairingAgent

/// A warning about the result of a successful command, on standard error with `--json`.
struct WarningReport: Encodable {
    struct Body: Encodable {
        var code: String
        var message: String
        var next: String?
    }

    var warning: Body
}

/// The error of a failed command, on standard error with `--json`.
struct ErrorReport: Encodable {
    struct Body: Encodable {
        var code: String
        var exitStatus: Int32
        var message: String
        var details: [String]?
        var next: String?
    }

    var error: Body

    init(_ error: AppError) {
        self.error = Body(
            code: error.code,
            exitStatus: ExitStatus(error.kind).rawValue,
            message: error.message,
            details: error.details.isEmpty ? nil : error.details,
            next: error.next
        )
    }
}
