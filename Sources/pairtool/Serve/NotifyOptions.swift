import ArgumentParser
import CompanionApp
import CompanionHost
import HostOwner

/// The receivers of a host's note that an agent waits, and the note's text.
struct NotifyOptions: ParsableArguments {
    @Option(
        name: .customLong("notify"),
        help: ArgumentHelp(
            """
            Notify this address when the agent waits, when the wait is over and when a long turn ends (repeatable): \
            ntfy://SERVER/TOPIC, or the https:// URL of a webhook that takes JSON. Default: those in config.toml.
            """,
            valueName: "url"
        )
    )
    var urls: [String] = []

    @Option(
        help: ArgumentHelp(
            "A file with such addresses, one on each line: other users can see options in the list of processes.",
            valueName: "file"
        ),
        completion: .file()
    )
    var notifyFile: String?

    @Option(
        help: ArgumentHelp(
            "What notifications say of a question: none, or title (what the agent wants to do). Default: none.",
            valueName: "detail"
        )
    )
    var notifyDetail: NotifySettings.Detail?

    @Option(
        help: ArgumentHelp("A file with the access token for the server of --notify.", valueName: "file"),
        completion: .file()
    )
    var notifyTokenFile: String?

    @Flag(help: "Take the access token from the keyring (secret-tool store --label pairtool service pairtool-notify).")
    var notifyTokenKeyring = false

    func validate() throws {
        for url in urls {
            do {
                _ = try NotifyTarget(url)
            } catch {
                // Without the address: its topic or path may be a secret, and errors of a service are in the journal.
                throw ValidationError("The value of --notify cannot be used: \(error.message).")
            }
        }
        if notifyTokenFile != nil, notifyTokenKeyring {
            throw ValidationError("--notify-token-file and --notify-token-keyring cannot be used together.")
        }
        if isEmpty, notifyDetail != nil || notifyTokenFile != nil || notifyTokenKeyring {
            throw ValidationError("--notify-detail, --notify-token-file and --notify-token-keyring need --notify.")
        }
    }

    /// Whether no address is given.
    var isEmpty: Bool { urls.isEmpty && notifyFile == nil }
}

extension NotifyChoice {
    init(_ options: NotifyOptions) {
        self.init(
            urls: options.urls,
            file: options.notifyFile,
            detail: options.notifyDetail ?? .none,
            token: options.notifyTokenKeyring ? .keyring : options.notifyTokenFile.map(TokenSource.file)
        )
    }
}

extension NotifySettings.Detail: ExpressibleByArgument {}
