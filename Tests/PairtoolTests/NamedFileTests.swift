import CompanionApp
import FoundationEssentials
import Glibc
import Identity
import LocalState
import PNGFiles
import PairingAgent
import QRCodec
import Terminal
import Testing

@testable import pairtool

/// Files that the user names: to be read, and to be written to.
@Suite(.timeLimit(.minutes(15))) struct NamedFileTests {
    private static let good =
        #"{"protocol":"copilotforge-pair-v1","code":"482913","token":"sample-token","expiresAt":"2099-12-31T23:59:59.000Z"}"#

    // MARK: Writing

    @Test("A picture goes through a link, and takes the place of the file behind it at once")
    func link() async throws {
        try await Sandbox.with { user in
            let result = try await user.shell(
                """
                mkdir there; echo old >there/old.png; ln there/old.png kept; ln -s there/old.png link.png; echo x >text
                \(BuiltTool.path) qr text -o link.png && test -L link.png && stat -c '%F %a' there/old.png && cat kept
                \(BuiltTool.path) scan there/old.png; ls there
                """
            )
            #expect(result.out == "regular file 600\nold\nthere/old.png: plain text\nold.png\n", "\(result)")
            #expect(result.err.contains("readable by you only"), "\(result)")
        }
    }

    @Test("A host's picture goes through a link, which leads to an empty file then, as often as wanted")
    func linkOfHost() async throws {
        try await withProject { host, _ in
            let made = try await host.shell("mkdir there; : >there/new.png; ln -s there/new.png link.png")
            #expect(made.status == 0, "\(made)")
            let picture = host.directory + "/there/new.png"
            for _ in 0..<2 {
                try await withRunningHost(host, ["--qr-file", host.directory + "/link.png"]) { events in
                    let code = try #require(try await events.first("challenge")["code"]?.string)
                    let scanned = await host.run("scan", picture, "--show-secrets", "--json")
                    #expect(try scanned.json.first?["code"]?.string == code, "\(scanned)")
                }
                #expect(FileStatus(host.directory + "/link.png", followingLinks: false)?.kind == .link)
                #expect(FileStatus(picture)?.size == 0)
            }
        }
    }

    @Test("A picture that a host has left behind is replaced, and goes")
    func pictureOfHost() async throws {
        try await withProject { host, _ in
            let payload = try host.file("payload", Array(Self.good.utf8))
            let picture = host.directory + "/code.png"
            #expect(await host.run("qr", payload, "-o", picture).status == 0)
            try await withRunningHost(host, ["--qr-file", picture]) { _ = try await $0.first("challenge") }
            #expect(FileStatus(picture) == nil)
        }
    }

    @Test(
        "What is no picture is no place for a host's, and stays",
        arguments: [
            ("text", 2, "host.qr_file"), ("photo.png", 2, "host.qr_file"), ("dir", 2, "host.qr_file"),
            ("dead", 1, "file.unwritable"), ("none/a.png", 1, "file.unwritable"), ("/dev/stdin", 1, "file.unwritable"),
        ]
    )
    func refusedByHost(name: String, status: Int32, code: String) async throws {
        try await withProject { host, _ in
            let made = try await host.shell(
                "echo x >text; \(BuiltTool.path) qr text -o photo.png; mkdir dir; ln -s nowhere dead"
            )
            #expect(made.status == 0, "\(made)")
            let path = name.hasPrefix("/") ? name : "\(host.directory)/\(name)"
            let before = FileStatus(path, followingLinks: false)
            let result = try await host.spawn([
                "host", "--json", "--port", "0", "--engine", "embedded", "--project", "\(host.directory)/garden",
                "--qr-file", path,
            ])
            #expect(result.status == status && result.failed(with: code), "\(result)")
            #expect(FileStatus(path, followingLinks: false) == before)
        }
    }

    @Test("A named pipe gets the picture and stays")
    func pipe() async throws {
        try await Sandbox.with { user in
            let result = try await user.shell(
                """
                echo x >text; mkfifo pipe.png; \(BuiltTool.path) qr text -o pipe.png & cat pipe.png >read.png; wait $!; echo $?
                \(BuiltTool.path) qr text -o direct.png; cmp read.png direct.png && stat -c %F pipe.png
                """
            )
            #expect(result.out == "0\nfifo\n", "\(result)")
        }
    }

    @Test("A character device gets the picture and stays")
    func device() async throws {
        try await Sandbox.with { user in
            _ = try user.file(
                "device.py",
                Array(
                    """
                    import os, pty, subprocess, sys, tty
                    primary, device = pty.openpty()
                    tty.setraw(device)
                    os.symlink(os.ttyname(device), "device.png")
                    status = subprocess.run([sys.argv[1], "qr", "text", "-o", "device.png"]).returncode
                    is_same = os.read(primary, 65536) == open("direct.png", "rb").read() if status == 0 else False
                    print(status, is_same, os.path.islink("device.png"))
                    """.utf8
                )
            )
            let result = try await user.shell(
                "echo x >text; \(BuiltTool.path) qr text -o direct.png; python3 device.py \(BuiltTool.path)"
            )
            #expect(result.out == "0 True True\n", "\(result)")
        }
    }

    @Test("A link to standard output is standard output, and what stands in the file before it stays")
    func standardOutput() async throws {
        try await Sandbox.with { user in
            let result = try await user.shell(
                """
                echo x >text; ln -s /proc/self/fd/1 out.png
                \(BuiltTool.path) qr text -o direct.png; (printf before; \(BuiltTool.path) qr text -o out.png) >all
                (printf before; cat direct.png) | cmp - all && test -L out.png && echo same
                """
            )
            #expect(result.out == "same\n", "\(result)")
        }
    }

    @Test("A name of a descriptor is that descriptor: what it leads to is not replaced")
    func descriptor() async throws {
        try await Sandbox.with { user in
            let result = try await user.shell(
                """
                echo x >text; \(BuiltTool.path) qr text -o direct.png; echo before >log
                cp log all; ln -s /dev/fd/3 three.png; \(BuiltTool.path) qr text -o three.png 3>>all
                cat log direct.png | cmp - all && echo same
                """
            )
            #expect(result.out == "same\n", "\(result)")
        }
    }

    @Test(
        "Nothing is written into somebody else's pipe, and somebody else's file does not get the picture either",
        .enabled(if: geteuid() == 0, "files of others are made by root")
    )
    func others() async throws {
        try await Sandbox.with { user in
            let result = try await user.shell(
                """
                echo x >text; echo theirs >file.png; ln file.png kept; mkfifo pipe.png
                chown 65534 file.png pipe.png; chmod 666 file.png pipe.png
                \(BuiltTool.path) qr text -o file.png && stat -c '%u %a' file.png && cat kept
                \(BuiltTool.path) qr text -o pipe.png 4<>pipe.png; echo $?
                """
            )
            #expect(result.out == "\(geteuid()) 600\ntheirs\n1\n", "\(result)")
            #expect(result.err.contains("a pipe of another user"), "\(result)")
        }
    }

    @Test("What cannot hold a picture is refused and stays: a directory, a socket, a link that leads nowhere")
    func refused() async throws {
        try await Sandbox.with { user in
            let text = try user.file("text", [0x78])
            let result = try await user.shell(
                """
                mkdir dir.png; ln -s none dead.png
                python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket.png")'
                """
            )
            #expect(result.status == 0, "\(result)")
            for (name, word) in [("dir", "a directory"), ("socket", "neither a file"), ("dead", "leads nowhere")] {
                let path = "\(user.directory)/\(name).png"
                let before = FileStatus(path, followingLinks: false)
                let drawn = await user.run(["qr", text, "-o", path, "--json"])
                #expect(drawn.status == 1 && drawn.failed(with: "file.unwritable"), "\(drawn)")
                #expect(drawn.err.contains(word))
                #expect(FileStatus(path, followingLinks: false) == before)
            }
            #expect(!FileManager.default.fileExists(atPath: user.directory + "/none"))
        }
    }

    @Test("A file that nobody may write to is left alone")
    func readOnly() async throws {
        try await Sandbox.with { user in
            let path = try user.file("kept.png", Array("kept".utf8))
            try #require(chmod(path, 0o444) == 0 && chmod(user.directory, 0o777) == 0)
            #expect(throws: NamedFileError.self) {
                try asOrdinaryUser {
                    _ = try Array("new".utf8).withUnsafeBytes { try OutputFile.write($0, to: path) }
                }
            }
            #expect(try String(contentsOf: URL(filePath: path), encoding: .utf8) == "kept")
        }
    }

    /// Runs a body with the rights of nobody in particular, where this process could do anything.
    private func asOrdinaryUser<R>(_ body: () throws -> R) throws -> R {
        guard geteuid() == 0 else { return try body() }
        typealias SetUser = @convention(c) (uid_t) -> Int32
        // Of this thread alone; Glibc's module does not have it.
        let set = unsafeBitCast(try #require(dlsym(nil, "setfsuid")), to: SetUser.self)
        _ = set(65_534)
        defer { _ = set(0) }
        return try body()
    }

    // MARK: Reading

    @Test(
        "The first signal ends the wait for a pipe that nobody writes to",
        arguments: [
            "pair --qr pipe", "scan --json pipe", "pair --token-file pipe", "qr pipe", "qr text -o pipe.png --level H",
        ]
    )
    func interrupted(command: String) async throws {
        try await Sandbox.with { user in
            let result = try await user.shell(
                """
                mkfifo pipe pipe.png; echo x >text
                \(BuiltTool.path) \(command) & pid=$!
                # It listens to three signals: from then on none is lost.
                until [ "$(ls -l /proc/$pid/fd | grep -c signalfd)" = 3 ]; do sleep 0.02; kill -0 $pid || break; done
                kill -TERM $pid
                tries=0
                while kill -0 $pid && [ $tries != 1200 ]; do sleep 0.1; tries=$((tries + 1)); done 2>/dev/null
                kill -KILL $pid 2>/dev/null
                wait $pid
                echo $?
                """
            )
            #expect(result.out == "130\n", "\(result)")
        }
    }

    @Test("What comes through a named pipe is read to its end")
    func readPipe() async throws {
        try await Sandbox.with { user in
            _ = try user.file("good.png", try QRSymbol(bytes: Array(Self.good.utf8)).png())
            let result = try await user.shell(
                "mkfifo pipe; (sleep 0.2; cat good.png) >pipe & \(BuiltTool.path) scan -q pipe"
            )
            #expect(result.status == 0 && result.out == "pipe\tpairing\n", "\(result)")
        }
    }

    @Test(
        "A file that is not there is the same error everywhere, with exit code 3",
        arguments: [
            ["scan", "none"], ["qr", "none"], ["pair", "--qr", "none"], ["pair", "--token-file", "none"],
            ["scan", "--frames", "none"], ["pair", "--frames", "none"], ["send", "chat", "hi", "--image", "none"],
            ["chat", "--image", "none"],
        ]
    )
    func missing(words: [String]) async throws {
        try await Sandbox.with { user in
            let result = await user.run(words.map { $0 == "none" ? user.directory + "/none" : $0 } + ["--json"])
            #expect(result.status == 3 && result.failed(with: "file.not_found"), "\(result)")
        }
    }

    @Test("A file that may not be read is the error file.denied with exit code 9, a directory is file.unreadable")
    func unreadable() async throws {
        try await Sandbox.with { user in
            let path = try user.file("secret", Array("kept".utf8))
            try #require(chmod(path, 0) == 0)
            let failure = #expect(throws: NamedFileError.self) {
                try asOrdinaryUser { _ = try InputFile.read(path, limit: 100) }
            }
            let error = failure.map { AppError(describing: $0) }
            #expect(error?.code == "file.denied" && error?.kind == .permissionDenied)
            let frames = #expect(throws: QRCodecError.self) {
                try asOrdinaryUser { _ = try DescriptorFrames(path: path) }
            }
            let described = frames.map { AppError(describing: $0) }
            #expect(described?.code == "file.denied" && described?.kind == .permissionDenied)
            let directory = await user.run("scan", user.directory, "--json")
            #expect(directory.status == 1 && directory.failed(with: "file.unreadable"), "\(directory)")
        }
    }

    @Test("Of a name that is not UTF-8 it is said that standard input takes the file")
    func foreignName() async throws {
        try await Sandbox.with { user in
            _ = try user.file("good.png", try QRSymbol(bytes: Array(Self.good.utf8)).png())
            let result = try await user.shell(
                #"name=$(printf 'x\377.png'); mv good.png "$name"; p='\#(BuiltTool.path)'"#
                    + #"; $p scan "$name"; $p scan -q - <"$name""#
            )
            #expect(result.out == "-\tpairing\n", "\(result)")
            #expect(result.err.contains("not UTF-8"), "\(result)")
        }
    }

    // MARK: Lost output

    @Test("Output that was lost is said whatever else went wrong, and the exit code is 1")
    func lost() async throws {
        try await Sandbox.with { user in
            _ = try user.file("good.png", try QRSymbol(bytes: Array(Self.good.utf8)).png())
            _ = try user.file("bad.png", PNGWriter(width: 40, height: 40).file { _, _ in [255] })
            let both = try await user.shell("\(BuiltTool.path) scan good.png bad.png >/dev/full")
            #expect(both.status == 1 && both.err.contains("no QR code was found"), "\(both)")
            #expect(both.err.contains("pairtool: the output could not be written: No space left on device"), "\(both)")
            let json = try await user.shell("\(BuiltTool.path) scan good.png bad.png --json >/dev/full")
            #expect(
                json.status == 1 && json.failed(with: "output.lost") && json.err.contains("scan.no_code"),
                "\(json)"
            )
        }
    }
}
