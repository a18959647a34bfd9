import FoundationEssentials

/// A host's reply to a command.
struct FakeLumiReply {
    var result = ""
    var error: String?
    var data: [UInt8]?

    static func failure(_ error: String) -> FakeLumiReply { FakeLumiReply(error: error) }
}

extension FakeLumiScript {
    /// - Returns: nil where the host closes the connection.
    func answerPing(_ parameters: [String: String], pings: Int) -> FakeLumiReply? {
        let pong = FakeLumiReply(result: "pong")
        switch generation {
        case .open: return pong
        case .code:
            return parameters["pair_code"] == code
                ? pong : .failure("Pairing required. Enter the code shown on your Mac.")
        case .approval:
            switch user {
            case .accepts(let ping) where pings >= ping: return pong
            case .rejects(let ping) where pings >= ping: return nil
            default: return .failure("Awaiting approval on Mac. Please accept this connection.")
            }
        }
    }

    /// The fault that a command meets, if any.
    mutating func takeFault(for command: String) -> FakeLumiFault? {
        guard let index = faults.firstIndex(where: { ($0.command ?? command) == command && $0.times != 0 }) else {
            return nil
        }
        guard faults[index].skip == 0 else {
            faults[index].skip -= 1
            return nil
        }
        faults[index].times = faults[index].times.map { $0 - 1 }
        return faults[index]
    }

    mutating func answer(_ command: String, _ parameters: [String: String]) -> FakeLumiReply {
        func text(_ text: String) -> FakeLumiReply { FakeLumiReply(result: text) }
        switch command {
        case "get_volume": return text("\(volume)")
        case "set_volume":
            guard let level = parameters["level"].flatMap({ Int($0) }) else { return .failure("syntax error") }
            volume = level
            return text("Volume set to \(level)%")
        case "get_mute": return text("\(isMuted)")
        case "set_mute":
            isMuted = parameters["muted"]?.lowercased() == "true"
            return text(isMuted ? "Muted" : "Unmuted")
        case "get_brightness": return text(brightness)
        case "set_brightness":
            brightness = parameters["level"] ?? "0.5"
            return text("Brightness set to \(brightness)")
        case "screenshot": return FakeLumiReply(result: "Screenshot captured", data: screenshot)
        case "get_screen_info": return text("Width: 1512\nHeight: 982")
        case "get_system_info":
            return text("Hostname: \(hostName).local\nOS: macOS Version 15.6.1 (Build 24G90)\nCPUs: 12\nRAM: 36 GB")
        case "list_running_apps": return text(apps.map { $0 + "\n" }.joined())
        case "open_application":
            let name = parameters["name"] ?? ""
            if !apps.contains(name) { apps.append(name) }
            return text("Opened \(name)")
        case "quit_application":
            let name = parameters["name"] ?? ""
            apps.removeAll { $0 == name }
            return text("Quit \(name)")
        case "launch_url": return text("Opened \(parameters["url"] ?? "")")
        case "send_notification": return text("Notification sent")
        case "run_shell_command": return text(runShell(parameters["command"] ?? ""))
        case "run_applescript": return text("")
        case "disconnect": return text("Goodbye")
        default: return answerHands(command, parameters) ?? answerMedia(command) ?? answerSync(command, parameters)
        }
    }

    private func runShell(_ command: String) -> String {
        if let output = shell[command] { return output }
        if command.hasPrefix("echo ") { return String(command.dropFirst("echo ".count)) }
        return "/bin/bash: line 1: \(command.prefix { $0 != " " }): command not found"
    }

    private func answerHands(_ command: String, _ parameters: [String: String]) -> FakeLumiReply? {
        func value(_ name: String) -> String { parameters[name] ?? "0" }
        let result: String? =
            switch command {
            case "move_mouse": "Mouse moved to (\(value("x")), \(value("y")))"
            case "click_mouse": "Mouse click \(parameters["button"] ?? "left")"
            case "scroll_mouse": "Mouse scrolled (\(value("delta_x")), \(value("delta_y")))"
            case "type_text": "Typed: \((parameters["text"] ?? "").prefix(40))"
            case "press_key": "Pressed \(parameters["key"] ?? "return")"
            default: nil
            }
        return result.map { FakeLumiReply(result: $0) }
    }

    private mutating func answerMedia(_ command: String) -> FakeLumiReply? {
        switch command {
        case "media_play": isPlaying = true
        case "media_pause", "media_stop": isPlaying = false
        case "media_toggle": isPlaying.toggle()
        case "media_next": return FakeLumiReply(result: "Next track")
        case "media_previous": return FakeLumiReply(result: "Previous track")
        case "media_get_info":
            return FakeLumiReply(
                result: "Title: Clair de lune\nArtist: Alice Sara Ott\nAlbum: Nightfall\nPlaying: \(isPlaying)"
            )
        default: return nil
        }
        let words = ["media_play": "Playing", "media_pause": "Paused", "media_stop": "Stopped"]
        return FakeLumiReply(result: words[command] ?? "Toggled")
    }

    private mutating func answerSync(_ command: String, _ parameters: [String: String]) -> FakeLumiReply {
        let name = parameters["file"] ?? "agents.json"
        switch command {
        case "get_sync_data" where hasSync:
            guard let bytes = files[name] else { return .failure("File \(name) not found") }
            return FakeLumiReply(result: "Sync data for \(name)|updatedAt:785410800.0", data: bytes)
        case "push_sync_data" where hasSync:
            files[name] = parameters["data"].flatMap { Data(base64Encoded: $0) }.map { Array($0) }
            return FakeLumiReply(result: "Synced \(name) to Mac")
        default:
            return .failure("Unknown command: \(command)")
        }
    }
}
