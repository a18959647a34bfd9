import CompanionApp
import CompanionHost
import CompanionWire
import Desktop
import LocalState
import PairingAgent
import Providers
import Terminal

/// The notifications that the options of a host choose, or else `config.toml`.
struct HostNotifications {
    let options: NotifyOptions
    let output: Output

    /// Warns of what is wrong in `config.toml`.
    ///
    /// - Throws: ``AppError`` for an address that cannot be used, for a token that cannot be read, and for one that would
    ///   go to several servers or over plain HTTP.
    func settings() async throws -> NotifySettings {
        let choices = Choices.load(output.context.paths)
        for fault in choices.faults { output.warn(fault) }
        var (urls, file) = (options.urls, options.notifyFile)
        var settings = NotifySettings(detail: options.notifyDetail ?? .none)
        var source = options.notifyTokenKeyring ? .keyring : options.notifyTokenFile.map(TokenSource.file)
        if options.isEmpty {
            (urls, file) = (choices.notify.urls, choices.notify.file)
            settings.detail = choices.notify.saysTitle ? .title : .none
            source = choices.notify.token
        }
        if let file { urls += try await lines(of: file) }
        settings.targets = try urls.enumerated().map { try target($1, number: $0 + 1) }.unique
        guard let source, !settings.targets.isEmpty else { return settings }
        settings.token = try await token(source, for: settings.targets)
        return settings
    }

    private func target(_ text: String, number: Int) throws -> NotifyTarget {
        do {
            return try NotifyTarget(text)
        } catch {
            throw AppError(
                .usage,
                "notify.address",
                "address \(number) of the notifications (\(place)) cannot be used: \(error.message)",
                next: "see --notify in: pairtool host --help"
            )
        }
    }

    /// The option or the file that has the addresses.
    private var place: String {
        options.isEmpty ? "\(output.context.paths.config)/config.toml" : "--notify-file"
    }

    private func lines(of file: String) async throws -> [String] {
        let text = try await content(of: file, limit: 64 << 10)
        let lines = text.parts("\n").map { $0.trimmingWhitespace() }.filter { !$0.isEmpty }
        guard !lines.isEmpty else {
            throw AppError(.usage, "notify.address", "\(file) has no address, or is over 64 KiB")
        }
        return lines
    }

    private func token(_ source: TokenSource, for targets: [NotifyTarget]) async throws -> ProviderKey {
        guard Set(targets.map(\.name)).count == 1 else {
            throw AppError(
                .usage,
                "notify.token_exposed",
                "the token for notifications is for one server, but several are given",
                next: "leave out the token, or the other addresses"
            )
        }
        guard targets.allSatisfy(\.isConfidential) else {
            throw AppError(
                .usage,
                "notify.token_exposed",
                "the token for notifications is not sent to \(targets[0].name) without encryption",
                next: "leave out the token, or use an address with TLS"
            )
        }
        let text =
            switch source {
            case .file(let file): try await content(of: file, limit: 8 << 10)
            case .keyring:
                try await Keyring(environment: output.context.environment).secret(of: ("service", "pairtool-notify"))
            }
        guard let token = ProviderKey(text.trimmingWhitespace()) else {
            throw AppError(.usage, "notify.token_format", "there is no access token in \(source)")
        }
        return token
    }

    /// The text of a file; `~` is the home directory also in `config.toml`.
    private func content(of file: String, limit: Int) async throws -> String {
        let path = HomePath.expanded(file, in: output.context)
        return String(decoding: try await output.context.content(of: path, limit: limit) ?? [], as: UTF8.self)
    }
}
