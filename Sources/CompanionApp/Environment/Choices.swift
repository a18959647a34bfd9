import CompanionWire
package import History
package import LocalState
package import PairingAgent
import TOMLKit

/// The user's choices in `config.toml`. A file that is wrong or damaged never fails a command. While it has a fault,
/// nothing is kept and nothing is removed, because the user's intention is not known.
package struct Choices: Sendable {
    /// nil if nothing is to be kept.
    package var history: HistoryLimits? = HistoryLimits()
    /// The kinds of notifications that are shown on the desktop. Default: all.
    package var notifications = Set(NotificationKind.allCases)
    /// The receivers of a note of this user's host that an agent waits. Default: none.
    package var notify = NotifyChoices()
    /// The faults of the file, as warnings.
    package var faults: [AppError] = []

    /// Whether the user turned the history off.
    package var isHistoryOff: Bool { history == nil && faults.isEmpty }

    /// The most bytes of the file.
    private static let sizeLimit = 1 << 20

    /// Reads the file; a missing one chooses nothing.
    package static func load(_ paths: Paths) -> Choices {
        let path = "\(paths.config)/config.toml"
        var choices = Choices()
        do {
            guard let bytes = try PrivateFile.readRecord(path, limit: sizeLimit) else { return choices }
            if let text = String(validating: bytes, as: UTF8.self) {
                choices.take(try TOMLTable(string: text), in: path)
            } else {
                choices.fault(path, what: "is not UTF-8 text")
            }
        } catch let error as TOMLParseError {
            choices.fault(path, what: "line \(error.source.begin.line): \(error.description)")
        } catch {
            choices.faults.append(AppError(describing: error))
        }
        if !choices.faults.isEmpty { choices.history = nil }
        return choices
    }

    private mutating func take(_ file: TOMLTable, in path: String) {
        checkKeys(of: file, known: ["history", "notifications", "notify"], under: "", in: path)
        takeNotifications(file, in: path)
        takeNotify(file, in: path)
        guard let section = file["history"] else { return }
        guard let table = section.table else { return fault(path, what: "history is not a section: write [history]") }
        checkKeys(of: table, known: ["keep", "max", "off"], under: "history.", in: path)
        var limits = HistoryLimits()
        if let value = table["keep"] {
            if let age = value.string.flatMap(TimeSpan.init(age:)) {
                limits.age = age.seconds
            } else {
                fault(path, what: "history.keep is not a time span: write it as \"90d\"")
            }
        }
        if let value = table["max"] {
            if let size = value.string.flatMap(Self.bytes) {
                limits.size = size
            } else {
                fault(path, what: "history.max is not a size: write it as \"500 MB\" or \"1 GB\"")
            }
        }
        history = limits
        guard let value = table["off"] else { return }
        guard let isOff = value.bool else { return fault(path, what: "history.off must be true or false") }
        if isOff { history = nil }
    }

    private mutating func takeNotifications(_ file: TOMLTable, in path: String) {
        guard let section = file["notifications"] else { return }
        guard let table = section.table else {
            return fault(path, what: "notifications is not a section: write [notifications]")
        }
        checkKeys(of: table, known: NotificationKind.allCases.map(\.rawValue), under: "notifications.", in: path)
        for kind in NotificationKind.allCases {
            guard let value = table[kind.rawValue] else { continue }
            guard let isOn = value.bool else {
                fault(path, what: "notifications.\(kind.rawValue) must be true or false")
                continue
            }
            if !isOn { notifications.remove(kind) }
        }
    }

    private mutating func takeNotify(_ file: TOMLTable, in path: String) {
        guard let section = file["notify"] else { return }
        guard let table = section.table else { return fault(path, what: "notify is not a section: write [notify]") }
        checkKeys(
            of: table,
            known: ["urls", "file", "detail", "token-file", "token-keyring"],
            under: "notify.",
            in: path
        )
        if let value = table["urls"] {
            let urls = value.array.map { $0.map(\.string) } ?? [nil]
            notify.urls = urls.compactMap(\.self)
            if notify.urls.count < urls.count { fault(path, what: "notify.urls is not a list of texts") }
        }
        if let value = table["file"] {
            notify.file = value.string
            if notify.file == nil { fault(path, what: "notify.file is not a text") }
        }
        if let value = table["detail"] {
            notify.saysTitle = value.string?.isSame(as: "title") == true
            if !notify.saysTitle, value.string?.isSame(as: "none") != true {
                fault(path, what: "notify.detail must be \"none\" or \"title\"")
            }
        }
        if let value = table["token-keyring"] {
            if value.bool == nil { fault(path, what: "notify.token-keyring must be true or false") }
            if value.bool == true { notify.token = .keyring }
        }
        guard let value = table["token-file"] else { return }
        guard let file = value.string else { return fault(path, what: "notify.token-file is not a text") }
        if notify.token != nil {
            fault(path, what: "notify.token-file and notify.token-keyring cannot be used together")
        }
        notify.token = .file(file)
    }

    private mutating func checkKeys(of table: TOMLTable, known: [String], under prefix: String, in path: String) {
        for key in table.keys.sorted() where !known.contains(where: { $0.isSame(as: key) }) {
            let near = NearestWord.of(key, in: known)
            fault(
                path,
                what: "there is no setting \(prefix)\(key)" + (near.map { "; did you mean \(prefix)\($0)?" } ?? "")
            )
        }
    }

    private mutating func fault(_ path: String, what: String) {
        faults.append(AppError(.failed, "config", "\(path): \(what)"))
    }

    /// `500 MB`, `1 GB`, `2 GiB`, or a number of bytes. At least 1 MB: less would keep nothing.
    static func bytes(_ text: String) -> Int? {
        let units: [String: Double] = [
            "": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KIB": 1024, "MIB": 1_048_576,
            "GIB": 1_073_741_824,
        ]
        let digits = text.utf8.prefix { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
        let unit = String(text.dropFirst(digits.count)).trimmingWhitespace().uppercased()
        guard let number = Double(String(digits) ?? ""), let factor = units[unit] else { return nil }
        let size = number * factor
        return size >= 1e6 && size <= 1e15 ? Int(size) : nil
    }
}

/// The section `[notify]` of `config.toml`.
package struct NotifyChoices: Sendable, Hashable {
    package var urls: [String] = []
    /// A file with more of them.
    package var file: String?
    /// Whether notifications say what the agent wants to do.
    package var saysTitle = false
    package var token: TokenSource?
}

/// The location of an access token.
package enum TokenSource: Sendable, Hashable, CustomStringConvertible {
    case file(String)
    case keyring

    package var description: String {
        switch self {
        case .file(let path): path
        case .keyring: "the keyring"
        }
    }
}
