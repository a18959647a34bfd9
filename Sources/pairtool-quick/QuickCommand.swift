import CommandCore
import Discovery

/// The command lines that this program sees to itself. All others, whatever they say, are the whole tool's.
enum QuickCommand: Hashable {
    case version
    /// `scan FILE… [--json | -q] [--show-secrets]`
    case scan(files: [String], format: OutputFormat, showSecrets: Bool)
    /// `discover [--first] [--type TYPE]… [--engine ENGINE] [--interface NAME] [--json | -q]`
    case discover(types: [ServiceType], first: Bool, choice: DiscoveryChoice, format: OutputFormat)

    /// - Parameter arguments: The words behind the program's name.
    /// - Returns: nil for every other command line, those with mistakes among them.
    init?(_ arguments: [String]) {
        let words = arguments.dropFirst()
        switch arguments.first {
        case "--version" where words.isEmpty: self = .version
        case "scan": self.init(scanning: words)
        case "discover": self.init(discovering: words)
        default: return nil
        }
    }

    private init?(scanning words: ArraySlice<String>) {
        var files: [String] = []
        var format: OutputFormat?
        var showSecrets = false
        for word in words {
            switch word {
            case _ where format == nil && OutputFormat(option: word) != nil: format = OutputFormat(option: word)
            case "--show-secrets": showSecrets = true
            case _ where Self.isOperand(word): files.append(word)
            default: return nil
            }
        }
        guard !files.isEmpty else { return nil }
        self = .scan(files: files, format: format ?? .text, showSecrets: showSecrets)
    }

    private init?(discovering words: ArraySlice<String>) {
        var types: [ServiceType] = []
        var first = false
        var choice = DiscoveryChoice()
        var format: OutputFormat?
        var words = words
        while let word = words.popFirst() {
            switch word {
            case _ where format == nil && OutputFormat(option: word) != nil: format = OutputFormat(option: word)
            case "--first" where !first: first = true
            case "--type":
                guard let type = words.popFirst().flatMap({ ServiceType($0) }) else { return nil }
                types.append(type)
            case "--engine" where choice.engine == nil:
                guard let engine = words.popFirst().flatMap({ DiscoveryEngineChoice(rawValue: $0) }) else { return nil }
                choice.engine = engine
            case "--interface" where choice.interface == nil:
                guard let name = words.popFirst(), Self.isOperand(name) else { return nil }
                choice.interface = name
            default: return nil
            }
        }
        self = .discover(types: types, first: first, choice: choice, format: format ?? .text)
    }

    /// Whether a word is no option, nor standard input, which is waited for elsewhere.
    private static func isOperand(_ word: String) -> Bool {
        !word.isEmpty && !word.hasPrefix("-")
    }
}

extension OutputFormat {
    /// - Returns: nil for a word that chooses no format.
    fileprivate init?(option word: String) {
        switch word {
        case "--json": self = .json
        case "-q", "--quiet": self = .quiet
        default: return nil
        }
    }
}
