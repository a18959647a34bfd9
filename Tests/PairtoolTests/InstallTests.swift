import FoundationEssentials
import Testing

@testable import pairtool

/// `scripts/install`, with the built binary in place of a release.
@Suite struct InstallTests {
    private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    private static let script = "'\(root)/scripts/install' --binary '\(BuiltTool.path)'"

    @Test("What is installed works, and is gone without a trace when it is uninstalled; the user's data stays")
    func wholeLife() async throws {
        try await Sandbox.with { user in
            // As below ~/.local, where the data has a place in the same tree.
            let result = try await user.shell(
                """
                set -e
                export XDG_DATA_HOME="$PWD/pre fix/share"
                mkdir -p "$XDG_DATA_HOME/pairtool"
                echo '{}' >"$XDG_DATA_HOME/pairtool/hosts.json"
                \(Self.script) --prefix 'pre fix'
                'pre fix/bin/pairtool' --version
                'pre fix/bin/pairtool' hosts --help >/dev/null
                bash -n 'pre fix/share/bash-completion/completions/pairtool'
                head -n 1 'pre fix/share/zsh/site-functions/_pairtool'
                grep -c 'complete -c' 'pre fix/share/fish/vendor_completions.d/pairtool.fish' >/dev/null
                grep -h '^ExecStart' 'pre fix/share/systemd/user/'pairtool-*.service
                find 'pre fix' -type f | sort >installed
                \(Self.script) --prefix 'pre fix' >/dev/null
                find 'pre fix' -type f | sort | diff installed -
                '\(Self.root)/scripts/install' --prefix 'pre fix' --uninstall
                echo --
                find 'pre fix' | sort
                """
            )
            #expect(result.status == 0, "\(result)")
            #expect(result.out.contains("Installed \(Version.text) below \(user.directory)/pre fix.\n"))
            #expect(result.out.contains("\n\(Version.text)\n#compdef pairtool\n"))
            #expect(
                result.out.contains(
                    "ExecStart=\"\(user.directory)/pre fix/bin/pairtool\" auto --keep $PAIRTOOL_AUTO_OPTIONS\n"
                        + "ExecStart=\"\(user.directory)/pre fix/bin/pairtool\" host $PAIRTOOL_HOST_OPTIONS\n"
                        + "ExecStart=\"\(user.directory)/pre fix/bin/pairtool\" watch --all-hosts --quiet\n"
                )
            )
            #expect(result.out.contains("Kept: your keys, records and settings"))
            let left = result.out.split(separator: "\n").reversed().prefix { $0 != "--" }.reversed()
            #expect(
                Array(left) == [
                    "pre fix", "pre fix/share", "pre fix/share/pairtool", "pre fix/share/pairtool/hosts.json",
                ]
            )
        }
    }

    @Test("A prefix that had nothing is gone after; a second uninstall says that there is nothing")
    func emptyPrefix() async throws {
        try await Sandbox.with { user in
            let result = try await user.shell(
                """
                \(Self.script) --prefix there >/dev/null && '\(Self.root)/scripts/install' --prefix there --uninstall >/dev/null
                echo $?
                ls
                '\(Self.root)/scripts/install' --prefix there --uninstall
                echo $?
                """
            )
            #expect(result.out == "0\n1\n", "\(result)")
            #expect(result.err.contains("nothing of pairtool was installed"))
        }
    }

    @Test("Files of others are not replaced, files that were changed are not removed, and wrong words are refused")
    func others() async throws {
        try await Sandbox.with { user in
            let result = try await user.shell(
                """
                mkdir -p a/bin && echo mine >a/bin/pairtool
                \(Self.script) --prefix a; echo $?
                cat a/bin/pairtool
                \(Self.script) --prefix a --force >/dev/null; echo $?
                echo edited >>a/share/systemd/user/pairtool-host.service
                '\(Self.root)/scripts/install' --prefix a --uninstall >/dev/null
                find a -type f
                '\(Self.root)/scripts/install' --bogus 2>/dev/null; echo $?
                '\(Self.root)/scripts/install' --binary /nonexistent --prefix b 2>/dev/null; echo $?
                '\(Self.root)/scripts/install' --prefix / --binary '\(BuiltTool.path)' 2>/dev/null; echo $?
                """
            )
            #expect(
                result.out == "1\nmine\n0\na/share/systemd/user/pairtool-host.service\n2\n1\n1\n",
                "\(result)"
            )
            #expect(result.err.contains("is not of an installation by this script"))
        }
    }

    @Test("The manual page has every exit code")
    func exitCodes() throws {
        let text = try String(contentsOf: URL(filePath: "\(Self.root)/share/man/pairtool.1"), encoding: .utf8)
        let lines = Set(text.split(separator: "\n"))
        for code in Array(0...14) + [130] { #expect(lines.contains(".It \(code)"), "\(code)") }
    }

    @Test(
        "In the rendered manual brackets and quotation marks close where they should",
        .enabled(if: Self.has("mandoc"), "skipped, missing: mandoc")
    )
    func renderedManual() async throws {
        try await Sandbox.with { user in
            let page = try await user.shell(
                "cd '\(Self.root)/share/man' && mandoc -T utf8 pairtool-auto.1 pairtool-qr.1 pairtool-send.1"
            )
            let bold = try Regex(".\u{8}")
            let text = page.out.replacing(bold, with: "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(text.contains("--camera [device] Look through a camera, such as /dev/video0."), "\(page.err)")
            #expect(text.contains("-o, --output file Write to this file (mode 0600); - for standard output."))
            #expect(text.contains("pairtool send --new \"explain beds/water.py\" --allow-tool read_file"))
            #expect(text.contains("are named: --camera [device], --watch dir"))
        }
    }

    @Test(
        "The manual pages have no mistake that mandoc knows",
        .enabled(if: Self.has("mandoc"), "skipped, missing: mandoc")
    )
    func pageLint() async throws {
        try await Sandbox.with { user in
            let result = try await user.shell("mandoc -T lint -W warning '\(Self.root)'/share/man/*.1")
            #expect(result.status == 0, "\(result)")
        }
    }

    @Test(
        "The units have no mistake that systemd knows",
        .enabled(if: Self.has("systemd-analyze"), "skipped, missing: systemd-analyze")
    )
    func unit() async throws {
        try await Sandbox.with { user in
            let result = try await user.shell(
                """
                mkdir -p "$XDG_RUNTIME_DIR"
                \(Self.script) --prefix there >/dev/null
                MANPATH="$PWD/there/share/man" systemd-analyze --user verify there/share/systemd/user/pairtool-*.service
                """
            )
            #expect(result.status == 0 && result.err.isEmpty, "\(result)")
        }
    }

    private static func has(_ tool: String) -> Bool {
        ["/usr/bin", "/bin"].contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(tool)") }
    }
}
