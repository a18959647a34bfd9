import ArgumentParser
import CompanionHost

/// How much each device may store at a host.
struct QuotaOptions: ParsableArguments {
    @Option(
        name: .customLong("quota"),
        help: """
            Limit what each device may store (repeatable): chats=N, messages=N and size=N[K|M|G] in 24 hours, \
            total=N[K|M|G] in all, or none. Default: chats=500, messages=5000, size=32M, total=1G.
            """
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
            case .messages(let count): quota.messages = count
            case .size(let bytes): quota.bytes = bytes
            case .total(let bytes): quota.totalBytes = bytes
            }
        }
    }
}

/// A quota on the command line: `chats=20`, `messages=300`, `size=10M`, `total=1G`, or `none`.
struct QuotaArgument: ExpressibleByArgument {
    enum Limit: Hashable {
        case chats(Int), messages(Int), size(Int), total(Int)
    }

    /// nil: none at all.
    let limit: Limit?

    init?(argument: String) {
        guard argument != "none" else {
            limit = nil
            return
        }
        let bytes = argument.utf8
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let value = bytes[bytes.index(after: equals)...]
        let count = Self.number(value)
        let size = Self.size(value)
        switch argument[..<equals] {
        case "chats": limit = count.map(Limit.chats)
        case "messages": limit = count.map(Limit.messages)
        case "size": limit = size.map(Limit.size)
        case "total": limit = size.map(Limit.total)
        default: return nil
        }
        if limit == nil { return nil }
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
