import CompanionClient
import CompanionWire
import FoundationEssentials
import Glibc
import Subprocess
import SystemPackage

/// Which firewall is active on this machine, and the command that lets mDNS and a host in. It judges no rules: whether
/// packets arrive is what ``MulticastCheck`` shows.
package struct FirewallCheck: DoctorCheck {
    package let name = CheckName.firewall
    private let ufwSettings: String
    private let directories: [String]
    /// How long a program may take.
    private static let limit = Duration.seconds(3)

    /// - Parameters:
    ///   - ufwSettings: The file that says whether ufw is on; everybody may read it.
    ///   - directories: The directories that have `systemctl` and `nft`.
    package init(
        ufwSettings: String = "/etc/ufw/ufw.conf",
        directories: [String] = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"]
    ) {
        self.ufwSettings = ufwSettings
        self.directories = directories
    }

    package func findings() async throws -> [Finding] {
        if isUFWOn { return [.note(.firewall, evidence: "ufw is active", advice: .openUFW)] }
        if try await isActive("firewalld") {
            return [.note(.firewall, evidence: "firewalld is active", advice: .openFirewalld)]
        }
        // The unit is seen by everybody, rules that were made by hand by root alone.
        let isLoaded = try await isActive("nftables")
        let rules = isLoaded ? nil : try await output(of: "nft", with: ["list", "ruleset"])
        guard isLoaded || rules?.has("hook input") == true else {
            return [.ok(.firewall, evidence: "neither ufw nor firewalld nor nft is active")]
        }
        return [.note(.firewall, evidence: "nft has rules for packets that come in", advice: .openNFT)]
    }

    private var isUFWOn: Bool {
        guard let content = try? Data(contentsOf: URL(filePath: ufwSettings)) else { return false }
        return String(decoding: content, as: UTF8.self).parts("\n").contains { $0.isSame(as: "ENABLED=yes") }
    }

    private func isActive(_ unit: String) async throws -> Bool {
        try await output(of: "systemctl", with: ["is-active", "--quiet", unit]) != nil
    }

    /// The output of a program; nil if it is not installed or fails.
    private func output(of program: String, with arguments: [String]) async throws -> String? {
        let paths = directories.map { "\($0)/\(program)" }
        guard let path = paths.first(where: { access($0, X_OK) == 0 }) else { return nil }
        return try await withTimeLimit(Self.limit) { () async -> String? in
            let result = try? await Subprocess.run(
                .path(FilePath(path)),
                arguments: Arguments(arguments),
                environment: .custom(["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"]),
                output: .bytes(limit: 16 << 20),
                error: .discarded
            )
            guard let result, result.terminationStatus.isSuccess else { return nil }
            return String(decoding: result.standardOutput, as: UTF8.self)
        } ?? nil
    }
}
