import CommandCore

/// The command lines that this program sees to itself. All others, whatever they say, are the whole tool's.
enum QuickCommand: Hashable {
    case version
    /// `scan FILE… [--json | -q] [--show-secrets]`
    case scan(files: [String], format: OutputFormat, showSecrets: Bool)
    /// `qr FILE -o OUTPUT [--scale PIXELS]`
    case draw(file: String, output: String, scale: Int)

    /// - Parameter arguments: The words behind the program's name.
    /// - Returns: nil for every other command line, those with mistakes among them.
    init?(_ arguments: [String]) {
        let words = arguments.dropFirst()
        switch arguments.first {
        case "--version" where words.isEmpty: self = .version
        case "scan": self.init(scanning: words)
        case "qr": self.init(drawing: words)
        default: return nil
        }
    }

    private init?(scanning words: ArraySlice<String>) {
        var files: [String] = []
        var format: OutputFormat?
        var showSecrets = false
        for word in words {
            switch word {
            case "--json" where format == nil: format = .json
            case "-q" where format == nil, "--quiet" where format == nil: format = .quiet
            case "--show-secrets": showSecrets = true
            case _ where Self.isOperand(word): files.append(word)
            default: return nil
            }
        }
        guard !files.isEmpty else { return nil }
        self = .scan(files: files, format: format ?? .text, showSecrets: showSecrets)
    }

    private init?(drawing words: ArraySlice<String>) {
        var file: String?
        var output: String?
        var scale = QRDrawing.usualScale
        var words = words
        while let word = words.popFirst() {
            switch word {
            case "-o" where output == nil, "--output" where output == nil:
                guard let next = words.popFirst(), Self.isOperand(next) else { return nil }
                output = next
            case "--scale":
                guard let next = words.popFirst(), let pixels = Int(next) else { return nil }
                scale = pixels
            case _ where Self.isOperand(word) && file == nil: file = word
            default: return nil
            }
        }
        guard let file, let output, QRDrawing(file: file, output: output, scale: scale).mistake == nil else {
            return nil
        }
        self = .draw(file: file, output: output, scale: scale)
    }

    /// Whether a word is no option, nor standard input, which is waited for elsewhere.
    private static func isOperand(_ word: String) -> Bool {
        !word.isEmpty && !word.hasPrefix("-")
    }
}

extension QuickCommand {
    func run(_ context: CommandContext) -> ExitStatus {
        let output: Output
        switch self {
        case .scan(_, let format, _): output = Output(context: context, format: format)
        case .version, .draw: output = Output(context: context, format: .text)
        }
        do {
            switch self {
            case .version: output.data(Version.text)
            case .scan(let files, _, let showSecrets): try Self.scan(files, output, showSecrets: showSecrets)
            case .draw(let file, let path, let scale):
                try QRDrawing(file: file, output: path, scale: scale).run(output)
            }
            return .done
        } catch let request as ExitRequest {
            return request.status
        } catch {
            let failure = CommandError(describing: error)
            output.report(failure)
            return failure.status
        }
    }

    private static func scan(_ files: [String], _ output: Output, showSecrets: Bool) throws {
        var report = ScanReport(output: output, showSecrets: showSecrets)
        for file in files {
            do {
                report.add(try PairingPicture.read(file, context: output.context), from: file)
            } catch let failure as CommandError {
                report.add(failure)
            }
        }
        try report.finish()
    }
}
