package import CompanionApp
package import CompanionHost
import CompanionWire
import Desktop
import LocalState
import PairingAgent
import Providers

/// The notifications that an owner chooses for a host; those of `config.toml` where no address is chosen.
package struct NotifyChoice: Sendable {
    package var urls: [String]
    /// A file with such addresses, one on each line.
    package var file: String?
    package var detail: NotifySettings.Detail
    /// The source of the access token; nil for none.
    package var token: TokenSource?

    package init(urls: [String], file: String?, detail: NotifySettings.Detail, token: TokenSource?) {
        (self.urls, self.file, self.detail, self.token) = (urls, file, detail, token)
    }

    private var isEmpty: Bool { urls.isEmpty && file == nil }

    /// Warns of what is wrong in `config.toml`.
    ///
    /// - Throws: `AppError` for an address that cannot be used, for a token that cannot be read, and for one that would
    ///   go to several servers or over plain HTTP.
    package func settings(in environment: AppEnvironment) async throws -> NotifySettings {
        let choices = Choices.load(environment.paths)
        for fault in choices.faults { environment.interaction.warn(fault) }
        var (urls, file, source) = (urls, file, token)
        var settings = NotifySettings(detail: detail)
        if isEmpty {
            (urls, file) = (choices.notify.urls, choices.notify.file)
            settings.detail = choices.notify.saysTitle ? .title : .none
            source = choices.notify.token
        }
        if let file { urls += try await lines(of: file, in: environment) }
        settings.targets = try urls.enumerated().map { try target($1, number: $0 + 1, in: environment) }.unique
        guard let source, !settings.targets.isEmpty else { return settings }
        settings.token = try await token(source, for: settings.targets, in: environment)
        return settings
    }

    private func target(_ text: String, number: Int, in environment: AppEnvironment) throws -> NotifyTarget {
        do {
            return try NotifyTarget(text)
        } catch {
            throw AppError(
                .usage,
                "notify.address",
                "address \(number) of the notifications (\(place(in: environment))) cannot be used: \(error.message)",
                next: "see --notify in: pairtool host --help"
            )
        }
    }

    /// The option or the file that has the addresses.
    private func place(in environment: AppEnvironment) -> String {
        isEmpty ? "\(environment.paths.config)/config.toml" : "--notify-file"
    }

    private func lines(of file: String, in environment: AppEnvironment) async throws -> [String] {
        let text = try await content(of: file, limit: 64 << 10, in: environment)
        let lines = text.parts("\n").map { $0.trimmingWhitespace() }.filter { !$0.isEmpty }
        guard !lines.isEmpty else {
            throw AppError(.usage, "notify.address", "\(file) has no address, or is over 64 KiB")
        }
        return lines
    }

    private func token(
        _ source: TokenSource,
        for targets: [NotifyTarget],
        in environment: AppEnvironment
    ) async throws -> ProviderKey {
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
            case .file(let file): try await content(of: file, limit: 8 << 10, in: environment)
            case .keyring:
                try await Keyring(environment: environment.variables).secret(of: ("service", "pairtool-notify"))
            }
        guard let token = ProviderKey(text.trimmingWhitespace()) else {
            throw AppError(.usage, "notify.token_format", "there is no access token in \(source)")
        }
        return token
    }

    /// The text of a file; `~` is the home directory also in `config.toml`.
    private func content(of file: String, limit: Int, in environment: AppEnvironment) async throws -> String {
        String(decoding: try await environment.content(environment.expanded(file), limit) ?? [], as: UTF8.self)
    }
}
