import ArgumentParser
import CompanionHost

/// How much each device may store on a host.
struct QuotaOptions: ParsableArguments {
    @Option(
        name: .customLong("quota"),
        help: """
            Limit what each device may store in 24 hours (repeatable): chats=N (a project counts as one), size=N[K|M|G], \
            or none. Default: chats=500, size=32M.
            """,
        transform: QuotaArgument.init(commandLine:)
    )
    var limits: [QuotaArgument] = []

    mutating func validate() throws {
        if limits.count > 1, limits.contains(where: { $0.limit == nil }) {
            throw ValidationError("--quota none cannot be used with other quotas.")
        }
    }

    var quota: DeviceQuota {
        limits.reduce(into: .usual) { quota, argument in
            switch argument.limit {
            case nil: quota = .unlimited
            case .chats(let count): quota.chats = count
            case .size(let bytes): quota.bytes = bytes
            }
        }
    }
}

/// A quota on the command line: `chats=20`, `size=10M` or `none`.
struct QuotaArgument {
    enum Limit: Hashable {
        case chats(Int), size(Int)
    }

    /// nil removes all limits.
    let limit: Limit?

    /// - Throws: `ValidationError` with the valid forms.
    init(commandLine argument: String) throws {
        guard argument != "none" else {
            limit = nil
            return
        }
        limit = Self.limit(argument)
        guard limit != nil else {
            throw ValidationError("Give chats=N or size=N, such as chats=20 or size=10M, or none.")
        }
    }

    private static func limit(_ argument: String) -> Limit? {
        let bytes = argument.utf8
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let value = bytes[bytes.index(after: equals)...]
        switch argument[..<equals] {
        case "chats": return number(value).map(Limit.chats)
        case "size": return size(value).map(Limit.size)
        default: return nil
        }
    }

    private static func number(_ digits: Substring.UTF8View) -> Int? {
        guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int(Substring(digits))
    }

    private static func size(_ text: Substring.UTF8View) -> Int? {
        let shifts: [UInt8: Int] = [UInt8(ascii: "K"): 10, UInt8(ascii: "M"): 20, UInt8(ascii: "G"): 30]
        guard let shift = text.last.flatMap({ shifts[$0] }) else { return number(text) }
        guard let count = number(text.dropLast()), count <= Int.max >> shift else { return nil }
        return count << shift
    }
}
