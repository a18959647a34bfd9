import CompanionWire

/// A command that may be sent: made only by the functions below, which take checked values.
package struct LumiRequest: Sendable, Hashable {
    /// How long the answer may take.
    enum Pace: Sendable, Hashable {
        case ping, usual, slow, sync
    }

    static let pingCommand = "ping"

    /// The `commandType` of the wire.
    package let command: String
    /// The parameters by their names. The wire has only strings (lumi, Command).
    package let parameters: [String: String]
    let pace: Pace

    init(_ command: String, parameters: [String: String] = [:], pace: Pace = .usual) {
        self.command = command
        self.parameters = parameters
        self.pace = pace
    }

    /// - Parameters:
    ///   - deviceName: What the host lists this device as.
    ///   - code: Six digits, for hosts of the second generation.
    static func ping(deviceName: String, code: String? = nil) -> LumiRequest {
        var parameters = ["device_name": deviceName]
        parameters["pair_code"] = code
        return LumiRequest(pingCommand, parameters: parameters, pace: .ping)
    }
}

// MARK: Looking

extension LumiRequest {
    static let volume = LumiRequest("get_volume")
    package static let mute = LumiRequest("get_mute")
    static let brightness = LumiRequest("get_brightness")
    package static let mediaInfo = LumiRequest("media_get_info")
    package static let screenshot = LumiRequest("screenshot", pace: .slow)
    static let screenInfo = LumiRequest("get_screen_info")
    static let systemInfo = LumiRequest("get_system_info")
    static let runningApps = LumiRequest("list_running_apps")
}

// MARK: Sound, light, media

extension LumiRequest {
    package static func setVolume(_ level: LumiLevel) -> LumiRequest {
        LumiRequest("set_volume", parameters: ["level": "\(level.percent)"])
    }

    package static func setMute(_ isMuted: Bool) -> LumiRequest {
        LumiRequest("set_mute", parameters: ["muted": isMuted ? "true" : "false"])
    }

    package static func setBrightness(_ level: LumiLevel) -> LumiRequest {
        LumiRequest("set_brightness", parameters: ["level": level.fraction])
    }

    package enum MediaAct: String, Sendable, CaseIterable {
        case play, pause, toggle, next, previous, stop
    }

    package static func media(_ act: MediaAct) -> LumiRequest {
        LumiRequest("media_\(act.rawValue)")
    }
}

// MARK: Apps and notifications

extension LumiRequest {
    package static func open(_ app: LumiAppName) -> LumiRequest {
        LumiRequest("open_application", parameters: ["name": app.text])
    }

    package static func open(_ url: LumiURL) -> LumiRequest {
        LumiRequest("launch_url", parameters: ["url": url.text])
    }

    package static func quit(_ app: LumiAppName) -> LumiRequest {
        LumiRequest("quit_application", parameters: ["name": app.text])
    }

    package static func notify(title: LumiNotificationText, message: LumiNotificationText) -> LumiRequest {
        LumiRequest("send_notification", parameters: ["title": title.text, "message": message.text])
    }
}

// MARK: Hands

extension LumiRequest {
    package static func type(_ text: LumiTypedText) -> LumiRequest {
        LumiRequest("type_text", parameters: ["text": text.text])
    }

    package static func press(_ keys: LumiKeys) -> LumiRequest {
        var parameters = ["key": keys.key]
        if !keys.modifiers.isEmpty {
            parameters["modifiers"] = keys.modifiers.map(\.rawValue).joined(separator: ",")
        }
        return LumiRequest("press_key", parameters: parameters)
    }

    package static func moveMouse(to point: LumiPoint) -> LumiRequest {
        LumiRequest("move_mouse", parameters: ["x": "\(point.x)", "y": "\(point.y)"])
    }

    package enum MouseButton: String, Sendable, CaseIterable {
        case left, right
    }

    /// - Parameter point: Nil: where the pointer is.
    package static func clickMouse(at point: LumiPoint?, with button: MouseButton = .left) -> LumiRequest {
        var parameters = ["button": button.rawValue]
        if let point {
            parameters["x"] = "\(point.x)"
            parameters["y"] = "\(point.y)"
        }
        return LumiRequest("click_mouse", parameters: parameters)
    }

    package static func scrollMouse(by distance: LumiPoint) -> LumiRequest {
        LumiRequest("scroll_mouse", parameters: ["delta_x": "\(distance.x)", "delta_y": "\(distance.y)"])
    }
}

// MARK: Scripts, which may do anything

extension LumiRequest {
    package static func shell(_ script: LumiScript) -> LumiRequest {
        LumiRequest("run_shell_command", parameters: ["command": script.text], pace: .slow)
    }

    package static func appleScript(_ script: LumiScript) -> LumiRequest {
        LumiRequest("run_applescript", parameters: ["script": script.text], pace: .slow)
    }
}
