package import CompanionWire

extension LumiClient {
    /// Asks whether the host is there, and measures how long it takes.
    ///
    /// - Parameter deviceName: The name that the connection was accepted by: another would be a new question.
    /// - Throws: ``CompanionClientError/Code/badAnswer`` if the answer is not `pong`; as ``perform(_:)`` does.
    package func ping(deviceName: String) async throws -> Duration {
        let clock = ContinuousClock()
        let start = clock.now
        let answer = try await perform(.ping(deviceName: deviceName))
        let time = start.duration(to: clock.now)
        guard answer.result == "pong" else {
            throw CompanionClientError(.badAnswer, message: "\(endpoint) gave a wrong answer to a ping.")
        }
        return time
    }

    /// How loud the Mac is, in percent; nil where its output has no volume of its own.
    ///
    /// - Throws: As ``perform(_:)`` does.
    package func volume() async throws -> Int? {
        let text = try await perform(.volume).result
        return Int(text.prefix { $0 != "%" && !$0.isWhitespace }).flatMap { (0...100).contains($0) ? $0 : nil }
    }

    /// Whether the Mac's output is muted; nil where the Mac does not know.
    ///
    /// - Throws: As ``perform(_:)`` does.
    package func isMuted() async throws -> Bool? {
        switch try await perform(.mute).result.lowercased() {
        case "true": true
        case "false": false
        default: nil
        }
    }

    /// How bright the Mac's screen is, in percent; nil where the Mac does not know.
    ///
    /// - Throws: As ``perform(_:)`` does.
    package func brightness() async throws -> Int? {
        let words = try await perform(.brightness).result.split { $0.isWhitespace }
        guard let value = words.last.flatMap({ Double($0) }), (0...1).contains(value) else { return nil }
        return Int((value * 100).rounded())
    }

    /// The applications with a window, as the Mac lists them.
    ///
    /// - Throws: As ``perform(_:)`` does.
    package func runningApps() async throws -> [String] {
        try await perform(.runningApps).result.split(whereSeparator: \.isNewline).map { line in
            String(line.drop { $0.isWhitespace })
        }.filter { !$0.isEmpty }
    }

    /// Takes a picture of the Mac's screen.
    ///
    /// - Throws: ``CompanionClientError/Code/badAnswer`` if the host sends no picture; as ``perform(_:)`` does.
    package func screenshot() async throws -> LumiScreenshot {
        let answer = try await perform(.screenshot)
        guard let bytes = answer.data, let type = PictureType(bytes) else {
            throw CompanionClientError(.badAnswer, message: "\(endpoint) sent no picture of its screen.")
        }
        return LumiScreenshot(type: type, bytes: bytes)
    }

    /// Returns the Mac's information about itself and its screen, which it sends as lines `NAME: VALUE`.
    ///
    /// - Throws: As ``perform(_:)`` does.
    package func info() async throws -> [(name: String, value: String)] {
        let texts = [try await perform(.systemInfo).result, try await perform(.screenInfo).result]
        return texts.flatMap { $0.split(whereSeparator: \.isNewline) }.compactMap { line in
            guard let (name, value) = line.cut(at: ":") else { return nil }
            return (String(name.drop { $0.isWhitespace }), String(value.drop { $0.isWhitespace }))
        }
    }
}

/// How long answers took. The wire does not say: it is measured here.
package struct LumiRoundTrips: Sendable, Hashable {
    /// Shortest first.
    package let sorted: [Duration]

    /// - Returns: nil where nothing was measured.
    package init?(_ times: [Duration]) {
        guard !times.isEmpty else { return nil }
        sorted = times.sorted()
    }

    /// The fastest of the round trips.
    package var shortest: Duration { sorted[0] }
    /// The slowest of the round trips.
    package var longest: Duration { sorted[sorted.count - 1] }

    /// The one in the middle; of an even number the mean of the two.
    package var median: Duration {
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}

/// A picture of a Mac's screen.
package struct LumiScreenshot: Sendable, Hashable {
    package let type: PictureType
    package let bytes: [UInt8]
}
