import CompanionWire
import LocalState

/// An agent that is known to speak the Agent Client Protocol, and how it is started.
package struct AgentPreset: Sendable, Hashable {
    /// The word for it on the command line.
    package var id: String
    /// The agent's name for people.
    package var name: String
    /// Its programs and their arguments; the first that is installed is taken.
    package var commands: [[String]]
    /// How it is installed.
    package var install: String
    /// An instruction for its owner: how to sign in.
    package var signIn: String
    /// Variables that it signs in with. It gets them.
    package var variables: [String]
    /// Files in which it keeps its credentials, relative to the home directory.
    package var files: [String]
    /// Letters of modes in which it asks nothing, besides those that all agents have.
    package var bypassModes: Set<String> = []
    /// Its other files and directories, relative to the home directory.
    var otherFiles: [String] = []

    /// Its own files and directories, relative to the home directory: those that it may write in a box.
    package var ownFiles: [String] {
        (files.compactMap { $0.cut(atLast: "/").map { String($0.before) } } + otherFiles).unique
    }

    /// The first of its programs that is installed, with its path.
    package var installed: (path: String, command: [String])? {
        for command in commands {
            if let program = command.first, let path = AgentProgram.find(program) { return (path, command) }
        }
        return nil
    }

    /// Finds the credentials that it seems to sign in with: the name of a variable, or the path of a file as `~/…`.
    ///
    /// - Parameter environment: The variables to look at. Default: this process's.
    /// - Returns: nil if nothing was found. It may be signed in nevertheless: some agents use a keyring.
    package func credentials(in environment: [String: String] = AgentEnvironment.current) -> String? {
        if let name = variables.first(where: { environment[$0]?.isEmpty == false }) { return name }
        guard let home = environment["HOME"] else { return nil }
        return files.first { FileStatus("\(home)/\($0)")?.kind == .file }.map { "~/\($0)" }
    }

    /// The preset with an id; nil for none.
    package static func find(_ id: String) -> AgentPreset? {
        all.first { $0.id.isSame(as: id) }
    }

    /// All presets, in the order in which they are listed.
    package static let all = [
        AgentPreset(
            id: "copilot",
            name: "GitHub Copilot",
            commands: [["copilot", "--acp"]],
            install: "npm install -g @github/copilot",
            signIn: "run copilot, then /login",
            variables: ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"],
            files: [],
            otherFiles: [".copilot", ".config/github-copilot"]
        ),
        AgentPreset(
            id: "claude",
            name: "Claude Code",
            // The names moved: the newest first.
            commands: [["claude-agent-acp"], ["claude-code-acp"]],
            install: "npm install -g @agentclientprotocol/claude-agent-acp",
            signIn: "run claude, then /login",
            variables: [
                "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN",
                "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX",
            ],
            files: [".claude/.credentials.json"],
            otherFiles: [".claude.json"]
        ),
        AgentPreset(
            id: "gemini",
            name: "Gemini CLI",
            commands: [["gemini", "--acp"]],
            install: "npm install -g @google/gemini-cli",
            signIn: "run gemini, then /auth",
            variables: [
                "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
                "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_APPLICATION_CREDENTIALS",
            ],
            files: [".gemini/oauth_creds.json"]
        ),
        AgentPreset(
            id: "codex",
            name: "Codex",
            commands: [["codex-acp"]],
            install: "npm install -g @agentclientprotocol/codex-acp",
            signIn: "run codex login",
            variables: ["CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"],
            files: [".codex/auth.json"]
        ),
        AgentPreset(
            id: "opencode",
            name: "opencode",
            commands: [["opencode", "acp"]],
            install: "npm install -g opencode-ai",
            signIn: "run opencode auth login",
            variables: ["OPENCODE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"],
            files: [".local/share/opencode/auth.json"],
            otherFiles: [".config/opencode", ".local/state/opencode", ".cache/opencode"]
        ),
        AgentPreset(
            id: "goose",
            name: "goose",
            commands: [["goose", "acp"]],
            install: "see https://goose-docs.ai, or your package manager",
            signIn: "run goose configure",
            variables: ["GOOSE_PROVIDER", "GOOSE_MODEL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"],
            files: [".config/goose/config.yaml"],
            bypassModes: ["auto"],
            otherFiles: [".local/share/goose", ".local/state/goose"]
        ),
        AgentPreset(
            id: "qwen",
            name: "Qwen Code",
            commands: [["qwen", "--acp"]],
            install: "npm install -g @qwen-code/qwen-code",
            signIn: "run qwen, then /auth",
            variables: ["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "DASHSCOPE_API_KEY"],
            files: [".qwen/oauth_creds.json"]
        ),
        AgentPreset(
            id: "kimi",
            name: "Kimi CLI",
            commands: [["kimi", "acp"]],
            install: "see https://github.com/MoonshotAI/kimi-cli (kimi-cli of PyPI is no longer kept)",
            signIn: "run kimi, then /login",
            variables: ["KIMI_API_KEY", "KIMI_BASE_URL", "KIMI_MODEL_NAME"],
            files: [".kimi/config.toml"]
        ),
        AgentPreset(
            id: "vibe",
            name: "Mistral Vibe",
            commands: [["vibe-acp"]],
            install: "uv tool install mistral-vibe",
            signIn: "run vibe --setup",
            variables: ["MISTRAL_API_KEY"],
            files: [".vibe/.env"]
        ),
        AgentPreset(
            id: "auggie",
            name: "Auggie",
            commands: [["auggie", "--acp"]],
            install: "npm install -g @augmentcode/auggie",
            signIn: "run auggie login",
            variables: ["AUGMENT_SESSION_AUTH", "AUGMENT_API_TOKEN", "AUGMENT_API_URL"],
            files: [".augment/session.json"]
        ),
        AgentPreset(
            id: "hermes",
            name: "Hermes",
            commands: [["hermes", "acp"]],
            install: "uv tool install hermes-agent",
            signIn: "run hermes model",
            variables: ["OPENROUTER_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "NOUS_API_KEY"],
            files: [".hermes/auth.json", ".hermes/.env"]
        ),
        AgentPreset(
            id: "junie",
            name: "Junie",
            commands: [["junie", "--acp=true"]],
            install: "see https://www.jetbrains.com/junie",
            signIn: "run junie, and sign in there",
            variables: ["JUNIE_API_KEY"],
            files: []
        ),
        AgentPreset(
            id: "cagent",
            name: "cagent",
            commands: [["cagent", "acp"]],
            install: "see https://github.com/docker/cagent",
            signIn: "set the variable of its model, such as OPENAI_API_KEY",
            variables: ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"],
            files: []
        ),
        AgentPreset(
            id: "stakpak",
            name: "Stakpak",
            commands: [["stakpak", "acp"]],
            install: "see https://github.com/stakpak/agent",
            signIn: "run stakpak login",
            variables: ["STAKPAK_API_KEY"],
            files: [".stakpak/config.toml"]
        ),
    ]
}
