import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Identity
import LocalState
import PairingAgent
import Providers
import Terminal

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Set, list and remove the API keys of the agents' providers.",
        discussion: """
            pairtool uses the key in the environment first (OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, \
            DASHSCOPE_API_KEY), then the key that you set, then the key pulled from a Mac (pairtool lumi sync \
            --with-keys). PAIRTOOL_OPENAI_URL (ANTHROPIC, GEMINI, QWEN, OLLAMA) or --url sets a provider's address. \
            Keys are never shown.

            Examples:
              pairtool lumi keys
              pairtool lumi keys set openai
              pairtool lumi keys set ollama --url http://192.168.1.7:11434
            """,
        subcommands: [List.self, Set.self, Forget.self],
        defaultSubcommand: List.self
    )

    /// A provider in JSON. Never contains the key itself.
    struct Row: Encodable {
        var provider: String
        var hasKey: Bool
        /// `environment`, `set` or `synced`.
        var source: String?
        var url: String?
        /// The fault in the URL or the key; nil if there is none.
        var problem: String?

        var state: String {
            if let problem { return problem }
            if let source { return "key: \(source)" }
            return Provider(rawValue: provider)?.needsKey == false ? "needs none" : "no key"
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the providers, their addresses, and where their keys come from.",
            discussion: """
                Examples:
                  pairtool lumi keys list
                  pairtool lumi keys list --json
                """
        )

        @OptionGroup var options: OutputOptions

        func run() async throws {
            let output = options.output
            let data = output.context.paths.data
            let hosts = try PairedHostStore(directory: data).load().hosts.filter { $0.family == .lumi }
            let synced = try hosts.compactMap { try LumiStore(data: data, hostID: $0.id).loadAPIKeys() }
            output.list(
                try Provider.allCases.map { try row($0, output: output, synced: synced) },
                columns: [
                    TableColumn("PROVIDER") { $0.provider },
                    TableColumn("STATE", shrinks: true) { $0.state },
                    TableColumn("ADDRESS", shrinks: true) { $0.url ?? "–" },
                ],
                id: \.provider
            )
        }

        private func row(_ provider: Provider, output: Output, synced: [LumiAPIKeys]) throws -> Row {
            var row = Row(provider: provider.rawValue, hasKey: false)
            for given in synced.map(Optional.some) + [nil] where !row.hasKey {
                let settings = ProviderSettings(
                    environment: output.context.environment,
                    store: ProviderKeyStore(directory: output.context.paths.data),
                    synced: { given?.key(of: $0) }
                )
                do {
                    row.url = try settings.url(for: provider).description
                    guard let (_, source) = try settings.key(for: provider) else { continue }
                    row.hasKey = true
                    row.source =
                        switch source {
                        case .environment: "environment"
                        case .kept: "set"
                        case .synced: "synced"
                        }
                } catch let error as ProviderError {
                    row.problem = error.message
                }
            }
            return row
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Store a provider's key, from a prompt or standard input.",
            discussion: """
                Examples:
                  pairtool lumi keys set openai
                  pairtool lumi keys set anthropic < key.txt
                  pairtool lumi keys set ollama --url http://192.168.1.7:11434
                """
        )

        @Argument(help: "openai, anthropic, gemini, qwen or ollama.")
        var provider: String

        @Option(help: "The provider's address: https, or http for localhost, private and link-local addresses.")
        var url: String?

        @OptionGroup var options: OutputOptions

        func run() async throws {
            let output = options.output
            let provider = try KeysCommand.provider(provider)
            let url = try url.map { try ProviderURL($0, provider: provider) }
            // If only the URL is set and the provider needs no key, do not ask for one.
            let text = url != nil && !provider.needsKey ? "" : try await read(provider, in: output.context)
            guard !text.isEmpty || url != nil else {
                throw AppError(.usage, "key.empty", "the key is empty; nothing was changed")
            }
            let key = text.isEmpty ? nil : ProviderKey(text)
            guard text.isEmpty || key != nil else {
                throw AppError(.usage, "key.unusable", "that is not a key: it contains blanks or other characters")
            }
            try ProviderKeyStore(directory: output.context.paths.data).keep(key, url: url, for: provider)
            let row = Row(
                provider: provider.rawValue,
                hasKey: key != nil,
                source: key == nil ? nil : "set",
                url: url?.description
            )
            output.result(row, id: provider.rawValue) { "Stored for \(provider.displayName). Only you can read it." }
            if let variable = provider.keyVariable, output.context.environment[variable]?.isEmpty == false {
                output.warn("key.shadowed", "\(variable) is set in the environment and is used instead")
            }
        }

        private func read(_ provider: Provider, in context: TerminalContext) async throws -> String {
            if context.canAsk {
                let interaction = TerminalInteraction(output: options.output)
                return (try await interaction.secret("Key for \(provider.displayName): ") ?? "").trimmingWhitespace()
            }
            guard let bytes = try await context.content(limit: 8 << 10) else {
                throw AppError(.usage, "key.unusable", "that is not a key: it is longer than 8 KiB")
            }
            return String(decoding: bytes, as: UTF8.self).trimmingWhitespace()
        }
    }

    struct Forget: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "forget",
            abstract: "Remove the key and the address that you set for a provider.",
            discussion: """
                Examples:
                  pairtool lumi keys forget openai
                  pairtool lumi keys forget anthropic -q
                """
        )

        @Argument(help: "openai, anthropic, gemini, qwen or ollama.")
        var provider: String

        @OptionGroup var options: OutputOptions

        func run() async throws {
            let output = options.output
            let provider = try KeysCommand.provider(provider)
            guard let kept = try ProviderKeyStore(directory: output.context.paths.data).forget(provider) else {
                throw AppError(.nothingFound, "key.none", "nothing was set for \(provider.displayName)")
            }
            output.result(Row(provider: provider.rawValue, hasKey: false), id: provider.rawValue) {
                let what =
                    switch kept {
                    case (true, true): "the key for \(provider.displayName) and its address"
                    case (false, _): "the address of \(provider.displayName)"
                    case (true, false): "the key for \(provider.displayName)"
                    }
                return "Forgot \(what)."
            }
        }
    }

    static func provider(_ word: String) throws -> Provider {
        if let provider = Provider(named: word) { return provider }
        let names = Provider.allCases.map(\.rawValue).joined(separator: ", ")
        throw AppError(
            .usage,
            "provider.unknown",
            "there is no provider “\(word)”\(NameMatch.suggestion(word, in: Provider.allCases.map(\.rawValue)))",
            next: "one of: \(names)"
        )
    }
}
